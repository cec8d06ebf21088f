package io.envapi.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.envapi.id.CommandId;
import io.envapi.id.ShellId;
import io.envapi.process.ProcessIdentity;
import io.envapi.shell.CommandRecord;
import io.envapi.shell.OutputRing;
import io.envapi.shell.ShellIdentity;
import io.envapi.shell.ShellView;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.pekko.util.ByteString;
import org.junit.jupiter.api.Test;

class TellingTest {

  private static final ShellId SHELL = new ShellId("sh_00000000000a_1");
  private static final Telling.Subject WHOLE = new Telling.Subject(Optional.empty(), 0, false);

  @Test
  void commandsStandWhereTheyBelongAmongTheBytes() {
    List<CommandRecord> commands = List.of(ended(1, 2, 5), ended(2, 5, 5), running(3, 7));

    Telling.Told told = tell(WHOLE, at(0), slice(0, "0123456789", 10), commands);

    assertThat(lines(told))
        .containsExactly(
            "shell",
            "output 0-2 01",
            "begin 1",
            "output 2-5 234",
            "end 1",
            "begin 2",
            "end 2",
            "output 5-7 56",
            "begin 3",
            "output 7-10 789");
    assertThat(told.over()).isFalse();
  }

  @Test
  void aCommandIsToldOnceOverManySteps() {
    Telling.Told first = tell(WHOLE, at(0), slice(0, "ab", 2), List.of(running(1, 0)));
    Telling.Told second = tell(WHOLE, first.progress(), slice(2, "cd", 4), List.of(running(1, 0)));
    Telling.Told third = tell(WHOLE, second.progress(), slice(4, "", 4), List.of(ended(1, 0, 4)));
    Telling.Told fourth = tell(WHOLE, third.progress(), slice(4, "", 4), List.of(ended(1, 0, 4)));

    assertThat(lines(first)).containsExactly("shell", "begin 1", "output 0-2 ab");
    assertThat(lines(second)).containsExactly("output 2-4 cd");
    assertThat(commandStates(third)).containsExactly("exited");
    assertThat(fourth.events().isEmpty()).isTrue();
  }

  @Test
  void anEndPastTheBytesReadIsToldLater() {
    Telling.Told told = tell(WHOLE, at(0), slice(0, "ab", 9), List.of(ended(1, 0, 9)));

    assertThat(lines(told)).containsExactly("shell", "begin 1", "output 0-2 ab");
  }

  @Test
  void aStreamThatGoesOnTellsNothingOfWhatWasBefore() {
    List<CommandRecord> commands = List.of(ended(1, 0, 3), running(2, 3));

    Telling.Told told = tell(WHOLE, at(5), slice(5, "xy", 7), commands);

    assertThat(lines(told)).containsExactly("shell", "output 5-7 xy");
    assertThat(
            commandStates(tell(WHOLE, told.progress(), slice(7, "", 7), List.of(ended(2, 3, 7)))))
        .containsExactly("exited");
  }

  @Test
  void aStreamGoesOnAfterAnyOfItsEvents() {
    List<CommandRecord> commands =
        List.of(ended(1, 0, 0), ended(2, 0, 2), ended(3, 2, 2), ended(4, 3, 4), running(5, 4));
    ByteString bytes = ByteString.fromString("abcde");
    List<String> all =
        events(tell(WHOLE, at(0), new OutputRing.Slice(0, bytes, 0, 5), commands)).toList();

    assertThat(all).hasSize(1 + 9 + 4);
    for (String event : all) {
      String id = field(event, "id: ");
      if (!id.isEmpty()) {
        StreamPosition from = StreamPosition.parse(id).orElseThrow();
        int cursor = (int) from.cursor();
        var rest = new OutputRing.Slice(cursor, bytes.drop(cursor), 0, 5);
        assertThat(events(tell(WHOLE, Telling.Progress.at(from, 0), rest, commands)).skip(1))
            .as(id)
            .containsExactlyElementsOf(all.subList(all.indexOf(event) + 1, all.size()));
      }
    }
  }

  /** The log of a command that was lost with its service may hold less than was read before. */
  @Test
  void theEndOfALostCommandIsToldToWhoHasMoreOfItThanIsLeft() {
    ShellView dead = shell(ShellView.State.DEAD);
    var lost = lost(1, 0, 3);

    Telling.Told told = Telling.tell(WHOLE, at(5), dead, slice(3, "", 3), List.of(lost));

    assertThat(commandStates(told)).containsExactly("dead", "shell_died");
    assertThat(told.over()).isTrue();
  }

  @Test
  void theEndOfAShellIsToldAfterAllElse() {
    Telling.Told first = tell(WHOLE, at(0), slice(0, "ab", 2), List.of(running(1, 0)));
    Telling.Told second =
        Telling.tell(
            WHOLE,
            first.progress(),
            shell(ShellView.State.DEAD),
            slice(2, "cd", 4),
            List.of(ended(1, 0, 4)));

    assertThat(commandStates(second)).containsExactly("", "exited", "dead");
    assertThat(second.over()).isTrue();
  }

  @Test
  void aCharacterIsNeverSplitUnlessItWillNeverBeWhole() {
    ByteString half = bytes("78c3");

    Telling.Told open = tell(WHOLE, at(0), new OutputRing.Slice(0, half, 0, 2), List.of());
    assertThat(lines(open)).containsExactly("shell", "output 0-1 x");
    assertThat(open.progress().cursor()).isEqualTo(1);

    Telling.Told closed =
        Telling.tell(
            WHOLE,
            at(0),
            shell(ShellView.State.DEAD),
            new OutputRing.Slice(0, half, 0, 2),
            List.of());
    assertThat(lines(closed)).containsExactly("shell", "output 0-2 x\ufffd");
    assertThat(closed.over()).isTrue();
  }

  @Test
  void theEndOfACommandDoesNotWaitForACharacter() {
    Telling.Told told =
        tell(WHOLE, at(0), new OutputRing.Slice(0, bytes("c3"), 0, 1), List.of(ended(1, 0, 1)));

    assertThat(lines(told)).containsExactly("shell", "begin 1", "output 0-1 \ufffd", "end 1");
  }

  @Test
  void base64IsExact() {
    var subject = new Telling.Subject(Optional.empty(), 0, true);

    Telling.Told told =
        tell(subject, at(0), new OutputRing.Slice(0, bytes("ffc3"), 0, 2), List.of());

    assertThat(lines(told)).containsExactly("shell", "output 0-2 /8M=");
  }

  @Test
  void whatIsGoneIsCounted() {
    Telling.Told told =
        tell(WHOLE, at(3), new OutputRing.Slice(10, ByteString.fromString("z"), 7, 11), List.of());

    assertThat(lines(told)).containsExactly("shell", "dropped 3-10 7", "output 10-11 z");
  }

  @Test
  void aShellIsOverWhenItEndedAndAllWasTold() {
    ShellView dead = shell(ShellView.State.DEAD);

    Telling.Told some = Telling.tell(WHOLE, at(0), dead, slice(0, "ab", 4), List.of());
    assertThat(some.over()).isFalse();
    assertThat(Telling.tell(WHOLE, some.progress(), dead, slice(2, "cd", 4), List.of()).over())
        .isTrue();
  }

  @Test
  void aCommandsStreamHasItsBytesAndItsCursors() {
    var subject = new Telling.Subject(Optional.of(CommandId.of(SHELL, 2)), 100, false);
    List<CommandRecord> commands = List.of(ended(1, 0, 100), ended(2, 100, 104), running(3, 104));

    Telling.Told told = tell(subject, at(100), slice(100, "mineother", 109), commands);

    assertThat(lines(told)).containsExactly("begin 2", "output 0-4 mine", "end 2");
    assertThat(told.over()).isTrue();
  }

  @Test
  void aRunningCommandsStreamGoesOn() {
    var subject = new Telling.Subject(Optional.of(CommandId.of(SHELL, 1)), 0, false);

    Telling.Told told = tell(subject, at(0), slice(0, "", 0), List.of(running(1, 0)));

    assertThat(lines(told)).containsExactly("begin 1");
    assertThat(told.over()).isFalse();
  }

  @Test
  void anOffsetPastTheEndIsTheEnd() {
    var subject = new Telling.Subject(Optional.of(CommandId.of(SHELL, 1)), 0, false);

    Telling.Told told = tell(subject, at(50), slice(20, "", 20), List.of(ended(1, 0, 4)));

    assertThat(told.events().isEmpty()).isTrue();
    assertThat(told.over()).isTrue();
  }

  private static Telling.Progress at(long cursor) {
    return Telling.Progress.at(StreamPosition.at(cursor), 0);
  }

  private static Telling.Told tell(
      Telling.Subject subject,
      Telling.Progress progress,
      OutputRing.Slice slice,
      List<CommandRecord> commands) {
    return Telling.tell(subject, progress, shell(ShellView.State.RUNNING), slice, commands);
  }

  /** Each event as one line; an output's id has to be its next cursor. */
  private static List<String> lines(Telling.Told told) {
    var lines = new ArrayList<String>();
    for (String event : told.events().utf8String().split("\n\n")) {
      String id = field(event, "id: ");
      JsonNode data = json(field(event, "data: "));
      String span = data.path("cursor").asText() + "-" + data.path("next_cursor").asText();
      lines.add(
          switch (field(event, "event: ")) {
            case "output" -> {
              assertThat(id).isEqualTo(data.get("next_cursor").asText());
              yield "output " + span + " " + data.get("data").textValue();
            }
            case "dropped" -> "dropped " + span + " " + data.get("bytes");
            case "command" ->
                command(data.get("id").textValue(), data.get("output_end").isNull(), lines);
            case String other -> other;
          });
    }
    return lines;
  }

  /** The first time a command is told it begins, whatever its record says by then. */
  private static String command(String id, boolean running, List<String> before) {
    String number = id.substring(id.lastIndexOf('_') + 1);
    boolean begins = running || !before.contains("begin " + number);
    return (begins ? "begin " : "end ") + number;
  }

  private static Stream<String> events(Telling.Told told) {
    return Stream.of(told.events().utf8String().split("\n\n"));
  }

  private static List<String> commandStates(Telling.Told told) {
    return told.events()
        .utf8String()
        .lines()
        .filter(line -> line.startsWith("data: "))
        .map(line -> json(line.substring("data: ".length())).path("state").asText())
        .toList();
  }

  private static String field(String event, String name) {
    return event
        .lines()
        .filter(line -> line.startsWith(name))
        .map(line -> line.substring(name.length()))
        .findFirst()
        .orElse("");
  }

  private static JsonNode json(String text) {
    try {
      return new ObjectMapper().readTree(text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static OutputRing.Slice slice(long cursor, String text, long end) {
    return new OutputRing.Slice(
        cursor, ByteString.fromString(text, StandardCharsets.UTF_8), 0, end);
  }

  private static ByteString bytes(String hex) {
    return ByteString.fromArray(HexFormat.of().parseHex(hex));
  }

  private static ShellView shell(ShellView.State state) {
    var process = new ProcessIdentity(7, 1, "boot");
    return new ShellView(
        new ShellIdentity(SHELL, process, process, 7, ".", false, 0),
        state,
        Optional.empty(),
        0,
        Optional.empty(),
        0,
        0);
  }

  private static CommandRecord running(int number, long start) {
    return command(number, CommandRecord.State.RUNNING, start, Optional.empty());
  }

  private static CommandRecord ended(int number, long start, long end) {
    return command(number, CommandRecord.State.EXITED, start, Optional.of(end));
  }

  private static CommandRecord lost(int number, long start, long end) {
    return command(
        number,
        CommandRecord.State.SHELL_DIED,
        start,
        Optional.of(end),
        Optional.of(CommandRecord.Reason.SERVICE_RESTARTED));
  }

  private static CommandRecord command(
      int number, CommandRecord.State state, long start, Optional<Long> end) {
    return command(number, state, start, end, Optional.empty());
  }

  private static CommandRecord command(
      int number,
      CommandRecord.State state,
      long start,
      Optional<Long> end,
      Optional<CommandRecord.Reason> reason) {
    return new CommandRecord(
        CommandId.of(SHELL, number),
        "true",
        state,
        reason,
        Optional.empty(),
        Optional.empty(),
        0,
        Optional.empty(),
        start,
        end,
        0,
        false,
        Optional.empty(),
        List.of(),
        List.of(),
        false);
  }
}
