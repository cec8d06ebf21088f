package io.envapi.environment;

import io.envapi.id.CommandId;
import io.envapi.id.ShellId;
import io.envapi.shell.CommandMarks;
import io.envapi.shell.CommandRecord;
import io.envapi.shell.ShellEvent;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Beginnings and ends of commands that are not among the environment's events yet, each of them
 * once and in its turn, however often it is told.
 */
final class CommandNotices {

  /** UTF-16 units of a command's text that an event holds. */
  static final int MOST_TEXT = 512;

  private List<EnvironmentEvent> waiting = new ArrayList<>();
  private final Map<ShellId, Integer> newest = new HashMap<>();

  boolean isEmpty() {
    return waiting.isEmpty();
  }

  /** What waits, in the order in which it happened in each shell. */
  List<EnvironmentEvent> take() {
    List<EnvironmentEvent> taken = waiting;
    waiting = new ArrayList<>();
    newest.clear();
    return taken;
  }

  /** False when it was not taken, since one before it is missing. */
  boolean add(EnvironmentState.Present present, ShellEvent event) {
    EnvironmentEvent notice =
        switch (event) {
          case ShellEvent.CommandStarted started ->
              begun(started.id(), started.command(), started.outputStart(), started.startedAt());
          case ShellEvent.CommandFinished finished ->
              new EnvironmentEvent.CommandFinished(
                  finished.id(),
                  finished.state(),
                  finished.reason(),
                  finished.exitCode(),
                  finished.signal(),
                  finished.outputEnd(),
                  finished.finishedAt());
        };
    int mark =
        switch (event) {
          case ShellEvent.CommandStarted started -> CommandMarks.beginning(started.id());
          case ShellEvent.CommandFinished finished -> CommandMarks.end(finished.id());
        };
    ShellId shell = event.id().shell();
    int known = known(present, shell);
    if (known < mark - 1) {
      return false;
    }
    add(shell, mark, known, notice);
    return true;
  }

  /**
   * @param commands all that the shell remembers, oldest first
   */
  void add(EnvironmentState.Present present, ShellId shell, List<CommandRecord> commands) {
    int known = known(present, shell);
    for (CommandRecord each : commands) {
      add(
          shell,
          CommandMarks.beginning(each.id()),
          known,
          begun(each.id(), each.command(), each.outputStart(), each.startedAt()));
      if (!each.isRunning()) {
        add(shell, CommandMarks.end(each.id()), known, ended(each));
      }
    }
  }

  private void add(ShellId shell, int mark, int known, EnvironmentEvent notice) {
    if (mark > known) {
      waiting.add(notice);
      newest.put(shell, mark);
    }
  }

  /** The newest mark of a shell that was taken; past all for one that is forgotten. */
  private int known(EnvironmentState.Present present, ShellId shell) {
    int stored = present.shell(shell).map(ShellRecord::told).orElse(Integer.MAX_VALUE);
    return newest.getOrDefault(shell, stored);
  }

  private static EnvironmentEvent begun(CommandId id, String text, long outputStart, long at) {
    boolean whole = text.length() <= MOST_TEXT;
    return new EnvironmentEvent.CommandStarted(
        id, whole ? text : beginning(text), whole, outputStart, at);
  }

  private static String beginning(String text) {
    boolean splits = Character.isHighSurrogate(text.charAt(MOST_TEXT - 1));
    return text.substring(0, splits ? MOST_TEXT - 1 : MOST_TEXT);
  }

  private static EnvironmentEvent ended(CommandRecord command) {
    return new EnvironmentEvent.CommandFinished(
        command.id(),
        command.state(),
        command.reason().orElse(CommandRecord.Reason.EXITED),
        command.exitCode(),
        command.signal(),
        command.outputEnd().orElse(command.outputStart()),
        command.finishedAt().orElse(command.startedAt()));
  }
}
