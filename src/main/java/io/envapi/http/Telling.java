package io.envapi.http;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.envapi.id.CommandId;
import io.envapi.shell.CommandMarks;
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
   * @param mark the newest of the commands' beginnings and ends that was told or lies before the
   *     stream ({@link CommandMarks}); {@link #UNKNOWN} until the commands are known
   * @param shell the state told; empty when none was
   */
  record Progress(long cursor, int mark, Optional<ShellView.State> shell) {

    static final int UNKNOWN = -1;

    /** Before a stream that begins at {@code position}. */
    static Progress at(StreamPosition position, long base) {
      return new Progress(
          base + position.cursor(), position.mark().orElse(UNKNOWN), Optional.empty());
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
  private int mark;

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
    this.mark = before.mark();
  }

  /**
   * @param shell not newer than {@code slice}
   * @param slice read at the cursor of {@code before}
   * @param commands as they were when {@code slice} was read, oldest first: at least those since
   *     the mark of {@code before}
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
    if (mark == Progress.UNKNOWN) {
      mark = firstMark();
    }
    boolean first = before.shell().isEmpty();
    if (first) {
      tellShell();
    }
    // The bytes after a command are not its own.
    long limit = limit();
    long available = Math.min(slice.next(), limit);
    cursor = Math.max(before.cursor(), Math.min(slice.cursor(), limit));
    if (cursor > before.cursor()) {
      tellDropped();
    }
    for (Mark each : marks()) {
      if (each.position() <= available) {
        tellOutput(Math.max(cursor, each.position()), true);
        tellMark(each);
      }
    }
    boolean over = subject.only().isPresent() ? available == limit : isOver();
    tellOutput(available, over);
    if (over && !first && before.shell().get() != shell.state()) {
      tellShell();
    }
    return new Told(new Progress(cursor, mark, Optional.of(shell.state())), events.result(), over);
  }

  private boolean isOver() {
    return shell.state() != ShellView.State.RUNNING
        && slice.next() >= slice.end()
        && commands.stream().noneMatch(CommandRecord::isRunning);
  }

  /** Where the stream ends, as far as that is known. */
  private long limit() {
    return subject.only().isEmpty() || commands.isEmpty()
        ? Long.MAX_VALUE
        : commands.getFirst().outputEnd().orElse(Long.MAX_VALUE);
  }

  /** The newest mark that lies before the place where the stream begins, and is not told. */
  private int firstMark() {
    int passed = CommandMarks.NONE;
    for (CommandRecord command : commands) {
      if (command.outputStart() < before.cursor()) {
        passed = CommandMarks.beginning(command.id());
      }
      if (command.outputEnd().map(end -> end < before.cursor()).orElse(false)
          && !mayHavePrintedMore(command)) {
        passed = CommandMarks.end(command.id());
      }
    }
    return passed;
  }

  /**
   * Where a service that was killed left a command counts what is in its log, and a reader may have
   * got more than fits there; that reader has not heard of the end.
   */
  private static boolean mayHavePrintedMore(CommandRecord command) {
    return command.reason().equals(Optional.of(CommandRecord.Reason.SERVICE_RESTARTED));
  }

  private List<Mark> marks() {
    return commands.stream()
        .<Mark>mapMulti(
            (command, marks) -> {
              if (CommandMarks.beginning(command.id()) > mark) {
                marks.accept(new Mark(command.outputStart(), command.begun(), false));
              }
              if (CommandMarks.end(command.id()) > mark && command.outputEnd().isPresent()) {
                marks.accept(new Mark(command.outputEnd().get(), command, true));
              }
            })
        // Stable, and commands follow each other: their beginnings and ends stay in turn.
        .sorted(Comparator.comparingLong(Mark::position))
        .toList();
  }

  private void tellShell() {
    if (subject.only().isEmpty()) {
      events.append(Sse.event("shell", ShellJson.shell(shell)));
    }
  }

  private void tellMark(Mark told) {
    CommandId id = told.command().id();
    mark = told.end() ? CommandMarks.end(id) : CommandMarks.beginning(id);
    events.append(Sse.event("command", position().id(), ShellJson.command(told.command())));
  }

  /** Where a reader goes on that has got everything so far. */
  private StreamPosition position() {
    return StreamPosition.after(cursor - subject.base(), mark);
  }

  private void tellDropped() {
    events.append(
        Sse.event(
            "dropped",
            position().id(),
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
