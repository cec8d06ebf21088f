package io.envapi.environment;

import io.envapi.account.Quotas;
import io.envapi.failure.Failure;
import io.envapi.failure.Refusable;
import io.envapi.sandbox.Workspace;
import io.envapi.shell.Shell;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.persistence.typed.javadsl.ReplyEffect;

/**
 * What an environment knows of its disk. Processes change it unseen, so nothing is refused because
 * of an older figure: the disk is measured again first.
 */
final class EnvironmentDisk {

  /** What the actor tells itself of its disk. */
  sealed interface Step extends EnvironmentActor.Internal {}

  record Measured(long bytes) implements Step {}

  /**
   * Measured because of a request, which can be taken up now.
   *
   * @param bytes empty where the disk could not be measured
   */
  private record MeasuredFor(Environment.Request request, Optional<Long> bytes)
      implements Step, Refusable {

    @Override
    public void refuse(Failure failure) {
      request.refuse(failure);
    }
  }

  private static final Failure UNKNOWN = new Failure.HostUnavailable(5);

  private final EnvironmentSelf self;
  private final EnvironmentLife life;
  private final EnvironmentEffects effects;

  /** Shared by the requests that wait for it. */
  private Optional<CompletionStage<Long>> measuring = Optional.empty();

  EnvironmentDisk(EnvironmentSelf self) {
    this.self = self;
    this.life = self.life();
    this.effects = self.effects();
  }

  ReplyEffect<EnvironmentEvent, EnvironmentState> on(Step step) {
    switch (step) {
      case Measured(var bytes) -> life.measured(bytes);
      case MeasuredFor(var request, var bytes) -> {
        measuring = Optional.empty();
        bytes.ifPresent(life::measured);
        if (bytes.isPresent()) {
          self.context().getSelf().tell(request);
        } else {
          request.refuse(UNKNOWN);
        }
      }
    }
    return effects.noReply();
  }

  /** Whether {@code request} would be refused for a figure that may be out of date. */
  boolean isInDoubt(Environment.Request request) {
    Optional<Quotas> quotas = quotas(request);
    if (quotas.isEmpty()) {
      return false;
    }
    // With what the files API changed since it was measured, unless that cannot be told.
    Optional<Long> known = self.work().knownDiskBytes();
    known.ifPresent(life::diskBytes);
    return life.overDisk(quotas.get()).isPresent() && (known.isEmpty() || life.isDiskOld());
  }

  /** The quotas of a request that a full disk refuses. */
  private static Optional<Quotas> quotas(Environment.Request request) {
    return switch (request) {
      case Environment.OpenShell open -> Optional.of(open.quotas());
      case Environment.RunOnce run -> Optional.of(run.quotas());
      case Environment.ToShell(_, Shell.Exec _, var quotas) -> Optional.of(quotas);
      case Environment.Request _ -> Optional.empty();
    };
  }

  ReplyEffect<EnvironmentEvent, EnvironmentState> measureFor(Environment.Request request) {
    CompletionStage<Long> measured = measuring.orElseGet(this::measure);
    measuring = Optional.of(measured);
    self.context()
        .pipeToSelf(
            measured, (bytes, failure) -> new MeasuredFor(request, Optional.ofNullable(bytes)));
    return effects.noReply();
  }

  private CompletionStage<Long> measure() {
    Workspace place = life.workspace();
    return self.blocking(() -> self.work().diskBytes(place));
  }
}
