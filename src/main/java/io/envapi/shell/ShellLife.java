package io.envapi.shell;

import io.envapi.id.CommandId;
import io.envapi.linux.ExitStatus;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/** What the actor of a shell knows of its life and does not store. */
final class ShellLife {

  private final Set<CommandId> timedOut = new HashSet<>();
  private Optional<ShellEnd> end;
  private final ShellFate fate;
  private long lastActivityAt;

  ShellLife(Optional<ShellEnd> end, long createdAt, ShellFate fate) {
    this.end = end;
    this.fate = fate;
    this.lastActivityAt = end.map(ShellEnd::at).orElse(createdAt);
  }

  Optional<ShellEnd> end() {
    return end;
  }

  boolean isOver() {
    return end.isPresent();
  }

  /** Whether the shell takes no more work. */
  boolean isClosing() {
    return fate.isClosing() || isOver();
  }

  void closing() {
    fate.closing();
  }

  void over(ShellEnd how) {
    end = Optional.of(how);
    lastActivityAt = how.at();
  }

  /** How the process ended, if an actor before this one has not told. */
  Optional<ExitStatus> seenEnd() {
    return fate.end();
  }

  /** The service is about to kill the shell; {@code reason} as in {@code dead_reason}. */
  void killedFor(String reason) {
    fate.killedFor(reason);
  }

  void timedOut(CommandId command) {
    timedOut.add(command);
  }

  void finished(CommandId command, long at) {
    timedOut.remove(command);
    lastActivityAt = at;
  }

  void used(long at) {
    lastActivityAt = at;
  }

  /** Epoch ms. */
  long lastActivityAt() {
    return lastActivityAt;
  }

  ShellView.State state() {
    return end.map(ShellEnd::state).orElse(ShellView.State.RUNNING);
  }

  /** The state after an end that was just seen. */
  ShellView.State endState() {
    return fate.isClosing() ? ShellView.State.CLOSED : ShellView.State.DEAD;
  }

  /** The {@code dead_reason}; {@code status} is empty for a process that nobody saw end. */
  String endReason(Optional<ExitStatus> status) {
    if (end.isPresent()) {
      return end.get().reason();
    }
    if (fate.isClosing()) {
      return CommandEnds.CLOSED;
    }
    return fate.killedFor().or(() -> status.map(CommandEnds::reason)).orElse(CommandEnds.RESTARTED);
  }

  CommandEnds.Cause cause(CommandId command, boolean outOfMemory) {
    return new CommandEnds.Cause(
        timedOut.contains(command), fate.isClosing(), fate.killedFor(), outOfMemory);
  }
}
