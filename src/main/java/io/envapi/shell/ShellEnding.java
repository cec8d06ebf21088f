package io.envapi.shell;

import io.envapi.failure.Failure;
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
    var finished = finished(state, state.running().get(), status);
    return self.effects()
        .persist(finished)
        .thenRun(
            (ShellState next) -> {
              watch.end();
              self.runtime().meter().ended(finished.reason());
              self.tellHappened(finished);
              ended(next, status);
            })
        .thenNoReply();
  }

  /** The end of a command whose shell was gone before it could be told of the command's. */
  private ShellEvent.CommandFinished finished(
      ShellState state, CommandRecord running, Optional<ExitStatus> status) {
    long now = System.currentTimeMillis();
    long logged = CommandLog.size(self.spec().logs(), running.id());
    if (status.isEmpty()) {
      return CommandEnds.lost(running, life.endReason(status), now, logged);
    }
    long printed = running.outputStart() + logged;
    long end = self.process().isPresent() ? answers.outputEnd(state) : printed;
    var how = new CommandEnd(new CommandEnd.ShellGone(status.get()), end, logged, end > printed);
    return CommandEnds.event(
        running.id(), how, life.cause(running.id(), self.outOfMemory(how)), now);
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
    if (close.unusedSince().stream().anyMatch(since -> isUsed(state, since))) {
      close.refuse(new Failure.Conflict("the shell is used"));
      return;
    }
    // Without a process the end of the shell is on its way.
    waiting.close(close);
    if (!life.isClosing()) {
      self.process().ifPresent(shell -> end(shell, close.atOnce()));
    }
  }

  /** A running command is use. */
  private boolean isUsed(ShellState state, long since) {
    return state.running().isPresent() || life.lastActivityAt() >= since;
  }

  private void end(ShellProcess shell, boolean atOnce) {
    life.closing();
    self.inBackground(
        atOnce ? shell::kill : () -> shell.terminate(self.runtime().settings().closeGrace()));
  }
}
