package io.envapi.shell;

import io.envapi.CborSerializable;
import io.envapi.id.CommandId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The commands of a shell.
 *
 * @param lastNumber of the newest command, 0 before the first
 * @param history the newest commands, oldest first; the newest with all of its text, those before
 *     as far as there is room
 */
public record ShellState(int lastNumber, List<CommandRecord> history) implements CborSerializable {

  /** Commands kept. */
  static final int HISTORY = 200;

  /** What the texts of all commands but the newest may take together, in UTF-16 units. */
  private static final int MOST_TEXT = 1 << 20;

  /** What is left of each text for which there is no room. */
  private static final int SHORT_TEXT = 1 << 10;

  static final ShellState EMPTY = new ShellState(0, List.of());

  public ShellState {
    history = history == null ? List.of() : List.copyOf(history);
  }

  Optional<CommandRecord> last() {
    return history.isEmpty() ? Optional.empty() : Optional.of(history.getLast());
  }

  Optional<CommandRecord> running() {
    return last().filter(CommandRecord::isRunning);
  }

  /** The command if it is the one that runs. */
  Optional<CommandRecord> running(CommandId id) {
    return running().filter(c -> c.id().equals(id));
  }

  /** The newest of the {@link CommandMarks}. */
  int mark() {
    return last()
        .map(c -> c.isRunning() ? CommandMarks.beginning(c.id()) : CommandMarks.end(c.id()))
        .orElse(CommandMarks.NONE);
  }

  Optional<CommandRecord> find(CommandId id) {
    int index = index(id);
    return index < 0 ? Optional.empty() : Optional.of(history.get(index));
  }

  /** The numbers of the commands in the history follow each other; negative for another one's. */
  private int index(CommandId id) {
    int index = history.size() - 1 - (lastNumber - id.number());
    boolean here = index >= 0 && index < history.size() && history.get(index).id().equals(id);
    return here ? index : -1;
  }

  ShellState with(ShellEvent event) {
    return switch (event) {
      case ShellEvent.CommandStarted started -> started(started);
      case ShellEvent.CommandFinished finished -> finished(finished);
    };
  }

  private ShellState started(ShellEvent.CommandStarted event) {
    var commands = new ArrayList<>(history);
    if (commands.size() == HISTORY) {
      commands.removeFirst();
    }
    commands.add(
        new CommandRecord(
            event.id(),
            event.command(),
            CommandRecord.State.RUNNING,
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            event.startedAt(),
            Optional.empty(),
            event.outputStart(),
            Optional.empty(),
            0,
            false,
            event.timeoutMs(),
            event.credentialsInjected(),
            event.credentialsMissing(),
            false));
    shorten(commands);
    return new ShellState(event.id().number(), commands);
  }

  /** A caller may run 200 commands of a megabyte in each of very many shells. */
  private static void shorten(List<CommandRecord> commands) {
    int room = MOST_TEXT;
    for (int i = commands.size() - 2; i >= 0; i--) {
      CommandRecord each = commands.get(i);
      room -= each.command().length();
      if (room < 0) {
        commands.set(i, each.shortened(SHORT_TEXT));
      }
    }
  }

  private ShellState finished(ShellEvent.CommandFinished event) {
    var commands = new ArrayList<>(history);
    int index = index(event.id());
    if (index >= 0) {
      commands.set(index, commands.get(index).finished(event));
    }
    return new ShellState(lastNumber, commands);
  }
}
