package io.envapi.environment;

import io.envapi.account.Quotas;
import io.envapi.sandbox.Workspace;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.persistence.typed.javadsl.ReplyEffect;

/**
 * What happens to an environment by itself, at every tick: idle shells are closed, an idle
 * environment is archived, old logs are pruned, the disk is measured.
 */
final class EnvironmentReaper {

  /** What the actor tells itself of its use. */
  sealed interface Step extends EnvironmentActor.Internal {}

  record Tick() implements Step {}

  /** What its account may use, asked at a tick. */
  private record Weighed(Quotas quotas, long idleSince) implements Step {}

  /** {@code idleSince} is empty when the environment is to stay. */
  private record Reap(Optional<Long> idleSince) implements Step {}

  private static final Duration SPARE_WAITS = Duration.ofMinutes(1);

  private final EnvironmentSelf self;
  private final EnvironmentRuntime runtime;
  private final EnvironmentLife life;
  private final EnvironmentEffects effects;
  private final EnvironmentEmptying emptying;

  EnvironmentReaper(EnvironmentSelf self, EnvironmentEmptying emptying) {
    this.self = self;
    this.runtime = self.runtime();
    this.life = self.life();
    this.effects = self.effects();
    this.emptying = emptying;
  }

  ReplyEffect<EnvironmentEvent, EnvironmentState> on(EnvironmentState state, Step step) {
    return switch (step) {
      case Tick() -> onTick(state);
      case Weighed(var quotas, var idleSince) -> onWeighed(state, quotas, idleSince);
      case Reap(var idleSince) -> onReap(state, idleSince);
    };
  }

  private ReplyEffect<EnvironmentEvent, EnvironmentState> onTick(EnvironmentState state) {
    if (isAtRest() && state instanceof EnvironmentState.Present present && !present.isArchived()) {
      long idleSince = life.lastActivityAt();
      runtime.processes().dropSpareOlderThan(self.id(), SPARE_WAITS);
      self.context()
          .pipeToSelf(
              runtime.quotas().apply(present.account()),
              (quotas, failure) ->
                  failure == null
                      ? new Weighed(quotas, idleSince)
                      : new EnvironmentActor.Ignored());
      if (life.takeUsedSinceMeasured()) {
        Workspace place = life.workspace();
        self.context()
            .pipeToSelf(
                self.blocking(() -> self.work().diskBytes(place)),
                (bytes, failure) ->
                    failure == null
                        ? new EnvironmentDisk.Measured(bytes)
                        : new EnvironmentActor.Ignored());
      }
    }
    return effects.noReply();
  }

  private boolean isAtRest() {
    return !life.isBusy() && life.unprepared().isEmpty();
  }

  private ReplyEffect<EnvironmentEvent, EnvironmentState> onWeighed(
      EnvironmentState state, Quotas quotas, long idleSince) {
    if (isAtRest() && state instanceof EnvironmentState.Present present && !present.isArchived()) {
      self.context()
          .pipeToSelf(
              reap(present, idleSince, quotas),
              (idle, failure) -> failure == null ? new Reap(idle) : new EnvironmentActor.Ignored());
    }
    return effects.noReply();
  }

  /** Closes idle shells; since when the environment itself is idle, if it is for its time. */
  private CompletionStage<Optional<Long>> reap(
      EnvironmentState.Present present, long idleSince, Quotas quotas) {
    Workspace place = life.workspace();
    boolean idle =
        present.running().isEmpty()
            && System.currentTimeMillis() - idleSince
                > present.spec().choices().environmentIdleTtlSeconds(quotas) * 1000;
    return self.shells()
        .reapIdle(present, place, quotas)
        .thenCombineAsync(
            self.blocking(() -> self.work().pruneLogs(place, quotas.maxCommandLogBytes())),
            (closed, pruned) -> idle ? Optional.of(idleSince) : Optional.empty(),
            self.blocking());
  }

  /** It may have come into use while it was looked at. */
  private ReplyEffect<EnvironmentEvent, EnvironmentState> onReap(
      EnvironmentState state, Optional<Long> idleSince) {
    if (idleSince.isPresent()
        && idleSince.get() == life.lastActivityAt()
        && !life.isOpening()
        && isAtRest()
        && state instanceof EnvironmentState.Present present
        && !present.isArchived()
        && present.running().isEmpty()) {
      return emptying.archiveIdle(present);
    }
    return effects.noReply();
  }
}
