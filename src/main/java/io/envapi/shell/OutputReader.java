package io.envapi.shell;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.apache.pekko.util.ByteString;

/**
 * Reads a shell's output by cursor: from the ring where that still has it, else from the logs of
 * its commands. Blocks on the disk in the second case.
 *
 * @param ring empty once the shell's process is gone and forgotten
 * @param commands oldest first
 */
record OutputReader(Optional<OutputRing> ring, Path logs, List<CommandRecord> commands) {

  /** One past the newest byte. */
  long end() {
    return ring.map(OutputRing::end).orElseGet(this::lastEnd);
  }

  /**
   * From the ring, and what it has lost counts as dropped; from the logs where there is no ring.
   */
  OutputRing.Slice fromRing(long cursor, int max) {
    return ring.map(r -> r.read(cursor, max)).orElseGet(() -> fromLogs(cursor, max));
  }

  /** From the ring, or from the log that holds {@code cursor}; dropped is only what neither has. */
  OutputRing.Slice fromRingOrLogs(long cursor, int max) {
    return ring.filter(r -> cursor >= r.start())
        .map(r -> r.read(cursor, max))
        .orElseGet(() -> fromLogs(cursor, max));
  }

  private OutputRing.Slice fromLogs(long cursor, int max) {
    long end = end();
    for (CommandRecord command : commands) {
      long logged = CommandLog.size(logs, command.id());
      if (cursor < command.outputStart() + logged) {
        long from = Math.max(cursor, command.outputStart());
        ByteString data = CommandLog.read(logs, command.id(), from - command.outputStart(), max);
        if (ring.isEmpty() || from < ring.get().start()) {
          return new OutputRing.Slice(from, data, from - cursor, end);
        }
      }
    }
    if (ring.isPresent()) {
      return ring.get().read(cursor, max);
    }
    return new OutputRing.Slice(end, ByteString.emptyByteString(), Math.max(0, end - cursor), end);
  }

  private long lastEnd() {
    return commands.isEmpty()
        ? 0
        : commands.getLast().outputEnd().orElse(commands.getLast().outputStart());
  }

  /** The wanted part of a command's output, as far as the ring has it. */
  CommandResult result(CommandRecord command, Shell.Window window, ShellView.State shell) {
    long start = command.outputStart();
    long end = command.outputEnd().orElseGet(this::end);
    long from = window.tail() ? Math.max(start, end - window.maxBytes()) : start;
    OutputRing.Slice slice =
        fromRing(from, (int) Math.min(window.maxBytes(), end - from)).upTo(end);
    long lost = ring.map(r -> r.start() - start).orElse(slice.cursor() - from);
    long dropped = Math.clamp(lost, 0, end - start);
    long truncated = Math.max(0, end - start - dropped - slice.data().size());
    long next = Math.min(end, slice.next());
    return new CommandResult(command, slice.data(), dropped, truncated, next, shell);
  }
}
