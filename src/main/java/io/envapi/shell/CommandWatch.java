package io.envapi.shell;

import io.envapi.id.CommandId;
import io.envapi.process.ProcFs;
import java.time.Duration;
import java.util.Optional;
import org.apache.pekko.actor.Cancellable;

/**
 * Watches the running command: kills it when its time is over. A shell that waits for its next line
 * although the command's frame never came is told to print it, and killed when it does not.
 */
final class CommandWatch {

  private static final Duration KILL_ROUND = Duration.ofMillis(50);
  private static final int KILL_ROUNDS = 20;
  private static final Duration QUIET = Duration.ofSeconds(1);

  /** What the actor tells itself of a command that may still run. */
  sealed interface Step extends ShellActor.Internal {

    CommandId id();
  }

  private record Deadline(CommandId id) implements Step {}

  private record KillRound(CommandId id, int round) implements Step {}

  /** How sure it is that the frame is lost. */
  private enum Doubt {
    NONE,
    /** The shell asked for its next line. */
    WAITING,
    /** And was told to print the frame. */
    TOLD
  }

  private record QuietCheck(CommandId id, long outputEnd, Doubt doubt) implements Step {}

  private final ShellSelf self;

  /** Cancelled with the command: its time may be a day, and a shell may run many in that. */
  private Optional<Cancellable> deadline = Optional.empty();

  private Optional<Cancellable> quiet = Optional.empty();

  /** When the command began, by a clock that cannot be set: ticks since the boot. */
  private long since;

  CommandWatch(ShellSelf self) {
    this.self = self;
  }

  /**
   * @param startedAt epoch ms, past
   * @param left what is left of the command's time
   */
  void begin(ShellProcess shell, CommandId id, long startedAt, Optional<Duration> left) {
    since = ProcFs.ticksAt(startedAt);
    deadline = left.map(time -> self.later(time, new Deadline(id)));
    lookLater(new QuietCheck(id, shell.output().ring().end(), Doubt.NONE));
  }

  private void lookLater(QuietCheck check) {
    quiet = Optional.of(self.later(QUIET, check));
  }

  /** The command has ended. */
  void end() {
    deadline.ifPresent(Cancellable::cancel);
    quiet.ifPresent(Cancellable::cancel);
  }

  void on(ShellState state, Step step) {
    Optional<CommandRecord> running = state.running(step.id());
    if (running.isEmpty()) {
      return;
    }
    switch (step) {
      case Deadline(var id) -> onDeadline(running.get());
      case KillRound round -> self.process().ifPresent(shell -> onKillRound(shell, round));
      case QuietCheck check -> self.process().ifPresent(shell -> onQuietCheck(shell, check));
    }
  }

  private void onDeadline(CommandRecord running) {
    self.life().timedOut(running.id());
    self.context().getSelf().tell(new KillRound(running.id(), 0));
  }

  /** A script goes on with its next line when a child dies, so one round is not enough. */
  private void onKillRound(ShellProcess shell, KillRound round) {
    if (round.round() == KILL_ROUNDS || shell.replaced()) {
      self.inBackground(shell::kill);
    } else {
      long began = since;
      self.inBackground(() -> shell.tree().killCommand(began));
      self.later(KILL_ROUND, new KillRound(round.id(), round.round() + 1));
    }
  }

  private void onQuietCheck(ShellProcess shell, QuietCheck check) {
    long outputEnd = shell.output().ring().end();
    if (outputEnd != check.outputEnd() || !shell.asksForNextLine()) {
      Doubt kept = check.doubt() == Doubt.TOLD ? Doubt.TOLD : Doubt.NONE;
      lookLater(new QuietCheck(check.id(), outputEnd, kept));
      return;
    }
    switch (check.doubt()) {
      case NONE -> lookLater(new QuietCheck(check.id(), outputEnd, Doubt.WAITING));
      case WAITING -> {
        self.inBackground(shell::askForFrame);
        lookLater(new QuietCheck(check.id(), outputEnd, Doubt.TOLD));
      }
      case TOLD -> {
        self.life().killedFor(CommandEnds.FRAME_LOST);
        self.inBackground(shell::kill);
      }
    }
  }
}
