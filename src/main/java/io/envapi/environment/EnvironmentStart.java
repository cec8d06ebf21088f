package io.envapi.environment;

import io.envapi.account.Account;
import io.envapi.failure.Failure;
import io.envapi.failure.Refusable;
import io.envapi.failure.Result;
import io.envapi.id.ShellId;
import io.envapi.process.ProcessIdentity;
import io.envapi.sandbox.Workspace;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.pekko.persistence.typed.javadsl.EffectBuilder;
import org.apache.pekko.persistence.typed.javadsl.ReplyEffect;

/**
 * The start of an environment's actor: a new environment gets its directories, and one from the
 * journal is taken up where an earlier actor or service left it.
 */
final class EnvironmentStart {

  /** What the actor tells itself of its start. */
  sealed interface Step extends EnvironmentActor.Internal {}

  private record Prepared(
      Result<Workspace> workspace, Optional<Environment.Create> create, int killed)
      implements Step, Refusable {

    @Override
    public void refuse(Failure failure) {
      create.ifPresent(c -> c.refuse(failure));
    }
  }

  private record PrepareAgain() implements Step {}

  private static final Duration AGAIN = Duration.ofSeconds(5);

  private final EnvironmentSelf self;
  private final EnvironmentRuntime runtime;
  private final EnvironmentLife life;
  private final EnvironmentShells shells;
  private final EnvironmentEffects effects;
  private final EnvironmentEmptying emptying;
  private final EnvironmentRemoval removal;

  EnvironmentStart(EnvironmentSelf self, EnvironmentEmptying emptying, EnvironmentRemoval removal) {
    this.self = self;
    this.runtime = self.runtime();
    this.life = self.life();
    this.shells = self.shells();
    this.effects = self.effects();
    this.emptying = emptying;
    this.removal = removal;
  }

  ReplyEffect<EnvironmentEvent, EnvironmentState> on(EnvironmentState state, Step step) {
    return switch (step) {
      case Prepared prepared -> onPrepared(state, prepared);
      case PrepareAgain() -> {
        if (life.isBusy()) {
          prepareAgain();
        } else if (state instanceof EnvironmentState.Present present) {
          // A removal that began meanwhile would have its directories made again.
          life.busy(true);
          takeUp(present);
        }
        yield effects.noReply();
      }
    };
  }

  ReplyEffect<EnvironmentEvent, EnvironmentState> create(Environment.Create create) {
    life.busy(true);
    self.later(
        () -> runtime.sandbox().prepare(self.id(), create.uid()),
        ready -> new Prepared(ready, Optional.of(create), 0));
    return effects.noReply();
  }

  void takeUp(EnvironmentState.Present present) {
    List<ProcessIdentity> lost = lost(present);
    self.later(
        () -> self.work().takeUp(present, lost),
        taken -> new Prepared(taken.workspace(), Optional.empty(), taken.killed()));
  }

  /** What the journal says is running and this service did not start. */
  private List<ProcessIdentity> lost(EnvironmentState.Present present) {
    return Stream.concat(
            present.running().stream()
                .filter(s -> runtime.processes().find(s.identity().id()).isEmpty())
                .flatMap(s -> Stream.of(s.identity().process(), s.identity().shell())),
            present
                .holder()
                .filter(h -> !runtime.sandbox().holder(self.id()).equals(Optional.of(h)))
                .stream())
        .toList();
  }

  private ReplyEffect<EnvironmentEvent, EnvironmentState> onPrepared(
      EnvironmentState state, Prepared prepared) {
    return switch (prepared.workspace()) {
      case Result.Refused<Workspace>(var failure) -> {
        prepared.create().ifPresent(c -> c.refuse(failure));
        if (state instanceof EnvironmentState.Present) {
          life.unprepared(failure);
          prepareAgain();
        }
        life.busy(false);
        yield effects.unstashAll();
      }
      case Result.Ok<Workspace>(var ready) -> {
        life.prepared(ready);
        yield prepared.create().isPresent()
            ? created(prepared.create().get())
            : takenUp(state, prepared.killed());
      }
    };
  }

  private void prepareAgain() {
    self.context().scheduleOnce(AGAIN, self.context().getSelf(), new PrepareAgain());
  }

  private ReplyEffect<EnvironmentEvent, EnvironmentState> created(Environment.Create create) {
    long now = System.currentTimeMillis();
    life.lastUsed(now);
    self.unanswered().hold(create);
    return effects
        .store(new EnvironmentEvent.Created(create.account(), create.spec(), create.uid(), now))
        .thenRun(
            (EnvironmentState next) -> {
              self.unanswered().handled(create);
              life.busy(false);
              create.replyTo().tell(new Environment.Created());
            })
        .thenNoReply()
        .thenUnstashAll();
  }

  /** Shells that were running have actors again; those without a process report their end. */
  private ReplyEffect<EnvironmentEvent, EnvironmentState> takenUp(
      EnvironmentState state, int killed) {
    List<ShellId> lost = List.of();
    if (state instanceof EnvironmentState.Present present) {
      present.running().forEach(s -> shells.actor(s, life.workspace()));
      lost = shells.lost(present.running());
      switch (present.emptying()) {
        case NONE -> {}
        case FOR_RESET, FOR_ARCHIVE -> {
          life.busy(true);
          emptying.empty(present, Optional.empty());
          return reconciled(lost, killed).thenNoReply();
        }
        case FOR_DELETE -> {
          life.busy(true);
          removal.endShells(present, Optional.empty());
          return reconciled(lost, killed).thenNoReply();
        }
      }
      shells.awaitEndOf(lost);
      // The account may have missed it: it is told after the event is stored.
      self.tellAccount(
          present, present.isArchived() ? Account.Change.ARCHIVED : Account.Change.REVIVED);
    }
    life.busy(shells.awaitsEnd());
    return reconciled(lost, killed).thenNoReply().thenUnstashAll();
  }

  private EffectBuilder<EnvironmentEvent, EnvironmentState> reconciled(
      List<ShellId> lost, int killed) {
    return lost.isEmpty() && killed == 0
        ? effects.none()
        : effects.store(new EnvironmentEvent.Reconciled(lost, killed, System.currentTimeMillis()));
  }
}
