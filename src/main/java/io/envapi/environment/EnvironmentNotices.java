package io.envapi.environment;

import io.envapi.shell.Shell;
import io.envapi.shell.ShellActor;
import io.envapi.shell.ShellEnd;
import io.envapi.shell.ShellIdentity;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.persistence.typed.javadsl.ReplyEffect;

/** What an environment's shells tell it of themselves, as it comes. */
final class EnvironmentNotices {

  sealed interface Step extends EnvironmentActor.Internal {}

  record FromShell(ShellActor.Notice notice) implements Step {}

  /** The actor of a shell that ended has answered all that it was asked. */
  record Retired(ActorRef<Shell.Command> shell) implements Step {}

  private final EnvironmentSelf self;
  private final EnvironmentLife life;
  private final EnvironmentShells shells;
  private final EnvironmentFeed feed;
  private final EnvironmentEffects effects;

  EnvironmentNotices(EnvironmentSelf self, EnvironmentFeed feed) {
    this.self = self;
    this.life = self.life();
    this.shells = self.shells();
    this.feed = feed;
    this.effects = self.effects();
  }

  ReplyEffect<EnvironmentEvent, EnvironmentState> on(EnvironmentState state, Step step) {
    return switch (step) {
      case FromShell(var notice) -> onNotice(state, notice);
      case Retired(var shell) -> {
        self.context().stop(shell);
        yield effects.noReply();
      }
    };
  }

  private ReplyEffect<EnvironmentEvent, EnvironmentState> onNotice(
      EnvironmentState state, ShellActor.Notice notice) {
    return switch (notice) {
      case ShellActor.Ended(var shell, var end) -> onEnded(state, shell, end);
      case ShellActor.Happened(var shell, var event) -> {
        life.used(System.currentTimeMillis());
        if (!feed.add(state, event)) {
          askHistory(state, shell);
        }
        yield effects.noReply();
      }
      case ShellActor.Remembered(var shell, var commands) -> {
        feed.add(state, shell.id(), commands);
        yield effects.noReply();
      }
    };
  }

  private ReplyEffect<EnvironmentEvent, EnvironmentState> onEnded(
      EnvironmentState state, ShellIdentity shell, ShellEnd end) {
    var processes = self.runtime().processes();
    if (state instanceof EnvironmentState.Present present
        && present.shell(shell.id()).filter(ShellRecord::isRunning).isPresent()) {
      if (shells.lastAwaitedEnd(shell.id())) {
        life.busy(false);
      }
      return effects
          .store(new EnvironmentEvent.ShellEnded(shell.id(), end))
          .thenRun(
              (EnvironmentState next) -> {
                processes.recorded(shell.id());
                shells.ended(shell.id());
              })
          .thenNoReply()
          .thenUnstashAll();
    }
    processes.recorded(shell.id());
    return effects.noReply();
  }

  /** Something of a shell was not heard. */
  private void askHistory(EnvironmentState state, ShellIdentity identity) {
    if (state instanceof EnvironmentState.Present present) {
      present
          .shell(identity.id())
          .ifPresent(
              shell ->
                  self.context()
                      .pipeToSelf(
                          shells.history(shell, life.workspace()),
                          (commands, failure) ->
                              failure == null
                                  ? new FromShell(new ShellActor.Remembered(identity, commands))
                                  : new EnvironmentActor.Ignored()));
    }
  }
}
