package io.envapi.environment;

import io.envapi.id.CommandId;
import io.envapi.id.ShellId;
import io.envapi.shell.CommandRecord;
import io.envapi.shell.ShellEvent;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Beginnings and ends of commands that are not among the environment's events yet, each of them
 * once and in its turn, however often it is told.
 *
 * <p>A shell runs one command at a time, so they can be counted: the command with the number n
 * begins with the notice 2n - 1 and ends with 2n.
 */
final class CommandNotices {

  /** UTF-16 units of a command's text that an event holds. */
  static final int MOST_TEXT = 512;

  private List<EnvironmentEvent> waiting = new ArrayList<>();
  private final Map<ShellId, Integer> counts = new HashMap<>();

  boolean isEmpty() {
    return waiting.isEmpty();
  }

  /** What waits, in the order in which it happened in each shell. */
  List<EnvironmentEvent> take() {
    List<EnvironmentEvent> taken = waiting;
    waiting = new ArrayList<>();
    counts.clear();
    return taken;
  }

  /** False when it was not taken, since one before it is missing. */
  boolean add(EnvironmentState.Present present, ShellEvent event) {
    EnvironmentEvent notice =
        switch (event) {
          case ShellEvent.CommandStarted started ->
              begun(
                  started.id(), started.command(), started.outputStart(), started.startedAt());
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
    int number =
        switch (event) {
          case ShellEvent.CommandStarted started -> beginning(started.id());
          case ShellEvent.CommandFinished finished -> end(finished.id());
        };
    ShellId shell = event.id().shell();
    int known = known(present, shell);
    if (known < number - 1) {
      return false;
    }
    add(shell, number, known, notice);
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
          beginning(each.id()),
          known,
          begun(each.id(), each.command(), each.outputStart(), each.startedAt()));
      if (!each.isRunning()) {
        add(shell, end(each.id()), known, ended(each));
      }
    }
  }

  private void add(ShellId shell, int number, int known, EnvironmentEvent notice) {
    if (number > known) {
      waiting.add(notice);
      counts.put(shell, number);
    }
  }

  /** How many notices of a shell there are; more than there can be of one that is forgotten. */
  private int known(EnvironmentState.Present present, ShellId shell) {
    int stored = present.shell(shell).map(ShellRecord::told).orElse(Integer.MAX_VALUE);
    return counts.getOrDefault(shell, stored);
  }

  static int beginning(CommandId command) {
    return 2 * command.number() - 1;
  }

  static int end(CommandId command) {
    return 2 * command.number();
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
