package io.envapi.shell;

import io.envapi.linux.ExitStatus;
import java.util.Optional;
import org.apache.pekko.persistence.typed.javadsl.ReplyEffect;

/** How a shell ends: closed by a caller, or seen to be gone, with the command it ran. */
final class ShellEnding {

  /** {@code status} is empty for a process that nobody saw end. */
  record ProcessGone(Optional<ExitStatus> status) implements ShellActor.Internal {}

  private final ShellSelf self;
  private final ShellLife life;
  private final ShellAnswers answers;
  private final CommandWatch watch;
  private final ShellWaiting waiting;

  ShellEnding(ShellSelf self, CommandWatch watch, ShellWaiting waiting) {
    this.self = self;
    this.life = self.life();
    this.answers = self.answers();
    this.watch = watch;
    this.waiting = waiting;
  }

  /** The actor has started, and this service does not have the process. */
  void withoutProcess(ShellState state) {
    if (state.running().isPresent()) {
      // The end of the command is stored before that of the shell is told.
      self.context().getSelf().tell(new ProcessGone(life.seenEnd()));
    } else if (!life.isOver()) {
      ended(state, life.seenEnd());
    }
  }

  ReplyEffect<ShellEvent, ShellState> onGone(ShellState state, Optional<ExitStatus> status) {
    self.noteFate();
    if (state.running().isEmpty()) {
      ended(state, status);
      return self.effects().noReply();
    }
    CommandRecord running = state.running().get();
    long logged = CommandLog.size(self.spec().logs(), running.id());
    var lost =
        CommandEnds.lost(running, life.endReason(status), System.currentTimeMillis(), logged);
    return self.effects()
        .persist(lost)
        .thenRun(
            (ShellState next) -> {
              watch.end();
              self.runtime().meter().ended(lost.reason());
              self.tellHappened(lost);
              ended(next, status);
            })
        .thenNoReply();
  }

  /** Once the end of its last command is stored. */
  void ended(ShellState state, Optional<ExitStatus> status) {
    if (!life.isOver()) {
      self.noteFate();
      var over =
          new ShellEnd(
              life.endState(),
              life.endReason(status),
              System.currentTimeMillis(),
              answers.outputEnd(state),
              state.history().size());
      life.over(over);
      self.environment().tell(new ShellActor.Ended(self.spec().identity(), over));
    }
    waiting.shellEnded(state);
  }

  void close(ShellState state, Shell.Close close) {
    if (life.isOver()) {
      close.replyTo().tell(new Shell.Closed(answers.view(state)));
      return;
    }
    // Without a process the end of the shell is on its way.
    waiting.close(close);
    if (!life.isClosing()) {
      self.process().ifPresent(shell -> end(shell, close.atOnce()));
    }
  }

  private void end(ShellProcess shell, boolean atOnce) {
    life.closing();
    self.inBackground(
        atOnce ? shell::kill : () -> shell.terminate(self.runtime().settings().closeGrace()));
  }
}
