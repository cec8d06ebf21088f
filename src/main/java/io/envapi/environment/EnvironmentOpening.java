package io.envapi.environment;

import io.envapi.account.Quotas;
import io.envapi.failure.Failure;
import io.envapi.failure.Refusable;
import io.envapi.failure.Result;
import io.envapi.id.ShellId;
import io.envapi.sandbox.Workspace;
import io.envapi.shell.ShellProcess;
import java.util.Optional;
import java.util.function.Function;
import org.apache.pekko.persistence.typed.javadsl.ReplyEffect;

/** How an environment opens its shells: the process is started first, then stored, then told. */
final class EnvironmentOpening {

  /** What the actor tells itself of a shell that is being opened. */
  sealed interface Step extends EnvironmentActor.Internal {}

  private record ShellStarted(WantedShell wanted, String cwd, Result<ShellProcess> process)
      implements Step, Refusable {

    @Override
    public void refuse(Failure failure) {
      wanted.request().refuse(failure);
    }
  }

  private final EnvironmentSelf self;
  private final EnvironmentLife life;
  private final EnvironmentShells shells;
  private final EnvironmentEffects effects;

  EnvironmentOpening(EnvironmentSelf self) {
    this.self = self;
    this.life = self.life();
    this.shells = self.shells();
    this.effects = self.effects();
  }

  ReplyEffect<EnvironmentEvent, EnvironmentState> on(EnvironmentState state, Step step) {
    return switch (step) {
      case ShellStarted started -> onShellStarted(state, started);
    };
  }

  ReplyEffect<EnvironmentEvent, EnvironmentState> open(
      EnvironmentState.Present present, WantedShell wanted, Quotas quotas) {
    Optional<Failure> refusal = life.refusesShell(present, quotas);
    if (refusal.isPresent()) {
      return effects.refuse(wanted.request(), refusal.get());
    }
    life.used(System.currentTimeMillis());
    int number = self.runtime().processes().nextNumber(self.id(), present.lastShell());
    life.opening();
    Workspace place = life.workspace();
    ShellId shell = ShellId.of(self.id(), number);
    Optional<ShellId> spare = shells.spare(self.id(), wanted, present.lastShell());
    self.later(
        () ->
            switch (Directories.resolve(place.files(), wanted.cwd())) {
              case Result.Refused<String>(var failure) ->
                  new ShellStarted(wanted, wanted.cwd(), Result.refused(failure));
              case Result.Ok<String>(var cwd) ->
                  new ShellStarted(
                      wanted,
                      cwd,
                      self.work().openShell(present, place, shell, spare, wanted, cwd, quotas));
            },
        Function.identity());
    return effects.noReply();
  }

  private ReplyEffect<EnvironmentEvent, EnvironmentState> onShellStarted(
      EnvironmentState state, ShellStarted started) {
    // None for a shell that an actor before this one was opening when it failed.
    life.opened();
    return switch (started.process()) {
      case Result.Refused<ShellProcess>(var failure) -> {
        started.wanted().request().refuse(failure);
        yield effects.unstashAll();
      }
      case Result.Ok<ShellProcess>(var process) -> {
        ShellRecord record = shells.record(process, started.cwd(), System.currentTimeMillis());
        self.unanswered().hold(started);
        yield effects
            .store(
                new EnvironmentEvent.ShellOpened(
                    record.identity(), self.runtime().sandbox().holder(self.id())))
            .thenRun(
                (EnvironmentState next) -> {
                  self.unanswered().handled(started);
                  shells.begin(record, life.workspace(), started.wanted());
                  self.forgetShells(state, next);
                })
            .thenNoReply()
            .thenUnstashAll();
      }
    };
  }
}
