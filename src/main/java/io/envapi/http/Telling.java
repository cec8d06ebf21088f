package io.envapi.http;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.envapi.id.CommandId;
import io.envapi.shell.CommandRecord;
import io.envapi.shell.OutputRing;
import io.envapi.shell.ShellView;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.apache.pekko.util.ByteString;
import org.apache.pekko.util.ByteStringBuilder;

/**
 * One step of a stream: from what is known of a shell now to the events that tell it, each at its
 * place among the bytes.
 */
final class Telling {

  /**
   * What a stream is about.
   *
   * @param only the one command it is about; empty for the shell as a whole
   * @param base where its cursors count from, in the shell's output
   * @param base64 whether output is written exactly, or as text
   */
  record Subject(Optional<CommandId> only, long base, boolean base64) {}

  /**
   * How far a stream is.
   *
   * @param cursor in the shell's output: everything before it was told
   * @param begun the number of the newest command whose beginning was told, or was before it all
   * @param ended the same of a command's end
   */
  record Progress(long cursor, int begun, int ended, boolean first) {

    /** Nothing told yet. */
    static Progress at(long cursor) {
      return new Progress(cursor, 0, 0, true);
    }
  }

  /**
   * @param over whether nothing comes after these events but the end
   */
  record Told(Progress progress, ByteString events, boolean over) {}

  /** The beginning or the end of a command. */
  private record Mark(long position, CommandRecord command, boolean end) {}

  private final Subject subject;
  private final Progress before;
  private final ShellView shell;
  private final OutputRing.Slice slice;
  private final List<CommandRecord> commands;
  private final ByteStringBuilder events = ByteString.createBuilder();
  private long cursor;
  private int begun;
  private int ended;

  private Telling(
      Subject subject,
      Progress before,
      ShellView shell,
      OutputRing.Slice slice,
      List<CommandRecord> commands) {
    this.subject = subject;
    this.before = before;
    this.shell = shell;
    this.slice = slice;
    this.commands =
        commands.stream()
            .filter(command -> subject.only().map(command.id()::equals).orElse(true))
            .toList();
    this.begun = before.begun();
    this.ended = before.ended();
  }

  /**
   * @param shell not newer than {@code slice}
   * @param slice read at the cursor of {@code before}
   * @param commands not older than {@code slice}, oldest first
   */
  static Told tell(
      Subject subject,
      Progress before,
      ShellView shell,
      OutputRing.Slice slice,
      List<CommandRecord> commands) {
    return new Telling(subject, before, shell, slice, commands).tell();
  }

  private Told tell() {
    if (before.first()) {
      begin();
    }
    // The bytes after a command are not its own.
    long limit = limit();
    long available = Math.min(slice.next(), limit);
    cursor = Math.min(slice.cursor(), limit);
    if (cursor > before.cursor()) {
      tellDropped();
    }
    for (Mark mark : marks()) {
      if (mark.position() <= available) {
        tellOutput(Math.max(cursor, mark.position()), true);
        tellMark(mark);
      }
    }
    boolean over = subject.only().isPresent() ? cursor == limit || available == limit : isOver();
    tellOutput(available, over);
    return new Told(new Progress(cursor, begun, ended, false), events.result(), over);
  }

  private boolean isOver() {
    return shell.state() != ShellView.State.RUNNING && slice.next() >= slice.end();
  }

  /** Where the stream ends, as far as that is known. */
  private long limit() {
    return subject.only().isEmpty() || commands.isEmpty()
        ? Long.MAX_VALUE
        : commands.getFirst().outputEnd().orElse(Long.MAX_VALUE);
  }

  /** What lies before the place where the stream begins is not told. */
  private void begin() {
    if (subject.only().isPresent()) {
      return;
    }
    events.append(Sse.event("shell", ShellJson.shell(shell)));
    for (CommandRecord command : commands) {
      if (command.outputStart() < before.cursor()) {
        begun = command.id().number();
      }
      if (command.outputEnd().map(end -> end < before.cursor()).orElse(false)) {
        ended = command.id().number();
      }
    }
  }

  private List<Mark> marks() {
    return commands.stream()
        .<Mark>mapMulti(
            (command, marks) -> {
              if (command.id().number() > begun) {
                marks.accept(new Mark(command.outputStart(), command, false));
              }
              if (command.id().number() > ended && command.outputEnd().isPresent()) {
                marks.accept(new Mark(command.outputEnd().get(), command, true));
              }
            })
        // Stable, and commands follow each other: their beginnings and ends stay in turn.
        .sorted(Comparator.comparingLong(Mark::position))
        .toList();
  }

  private void tellMark(Mark mark) {
    events.append(Sse.event("command", ShellJson.command(mark.command())));
    int number = mark.command().id().number();
    if (mark.end()) {
      ended = number;
    } else {
      begun = number;
    }
  }

  private void tellDropped() {
    events.append(
        Sse.event(
            "dropped",
            cursor - subject.base(),
            Json.object()
                .put("cursor", before.cursor() - subject.base())
                .put("next_cursor", cursor - subject.base())
                .put("bytes", cursor - before.cursor())));
  }

  /**
   * Tells the output up to {@code end}.
   *
   * @param whole whether a character that is not complete there will never be
   */
  private void tellOutput(long end, boolean whole) {
    int from = (int) (cursor - slice.cursor());
    ByteString bytes = slice.data().slice(from, (int) (end - slice.cursor()));
    if (!subject.base64() && !whole) {
      bytes = bytes.dropRight(OutputText.incompleteTail(bytes));
    }
    if (bytes.isEmpty()) {
      return;
    }
    long next = cursor + bytes.size() - subject.base();
    ObjectNode data =
        Json.object()
            .put("cursor", cursor - subject.base())
            .put("next_cursor", next)
            .put("encoding", subject.base64() ? "base64" : "utf-8")
            .put("data", subject.base64() ? Json.base64(bytes) : Json.lossyText(bytes));
    events.append(Sse.event("output", next, data));
    cursor += bytes.size();
  }
}
