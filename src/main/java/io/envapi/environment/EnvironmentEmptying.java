package io.envapi.environment;

import io.envapi.account.Account;
import io.envapi.audit.AuditEvent;
import io.envapi.failure.Failure;
import io.envapi.failure.Refusable;
import io.envapi.failure.Unavailable;
import io.envapi.sandbox.Workspace;
import java.time.Duration;
import java.util.Optional;
import org.apache.pekko.persistence.typed.javadsl.ReplyEffect;

/**
 * How an environment is emptied, for a reset or an archive, and how all its shells are closed. An
 * emptying is begun with an event, so that a restart of the service goes on with it.
 */
final class EnvironmentEmptying {

  /** What the actor tells itself of its emptying. */
  sealed interface Step extends EnvironmentActor.Internal {}

  /** What the account says to one more environment that counts. */
  private record Weighed(Environment.Reset request, Optional<Failure> refusal)
      implements Step, Refusable {

    @Override
    public void refuse(Failure failure) {
      request.refuse(failure);
    }
  }

  private record Emptied(Optional<Environment.EmptyingRequest> request)
      implements Step, Finishing {}

  /** Something did not end in time; it is tried again. */
  private record NotEmptied(Optional<Environment.EmptyingRequest> request)
      implements Step, Finishing {}

  private record EmptyAgain() implements Step {}

  private record ShellsClosed(Optional<Environment.CloseShells> request, boolean all)
      implements Step, Finishing {}

  private static final Duration AGAIN = Duration.ofSeconds(5);

  private final EnvironmentSelf self;
  private final EnvironmentLife life;
  private final EnvironmentShells shells;
  private final EnvironmentEffects effects;

  private boolean reviving;

  EnvironmentEmptying(EnvironmentSelf self) {
    this.self = self;
    this.life = self.life();
    this.shells = self.shells();
    this.effects = self.effects();
  }

  ReplyEffect<EnvironmentEvent, EnvironmentState> on(EnvironmentState state, Step step) {
    return switch (step) {
      case Weighed weighed -> onWeighed(state, weighed);
      case Emptied emptied -> onEmptied(state, emptied);
      case NotEmptied notEmptied -> {
        notEmptied.refuse(new Failure.HostUnavailable((int) AGAIN.toSeconds()));
        self.context().scheduleOnce(AGAIN, self.context().getSelf(), new EmptyAgain());
        yield effects.noReply();
      }
      case EmptyAgain() -> {
        if (state instanceof EnvironmentState.Present present
            && present.emptying() != EnvironmentState.Emptying.NONE) {
          empty(present, Optional.empty());
        }
        yield effects.noReply();
      }
      case ShellsClosed closed -> onShellsClosed(state, closed);
    };
  }

  ReplyEffect<EnvironmentEvent, EnvironmentState> closeShells(
      EnvironmentState.Present present, Environment.CloseShells close) {
    self.unanswered().hold(close);
    if (life.isOpening()) {
      return effects.stash();
    }
    self.unanswered().handled(close);
    self.context()
        .pipeToSelf(
            shells.closeAll(present, life.workspace()),
            (done, failure) -> new ShellsClosed(Optional.of(close), failure == null));
    return effects.noReply();
  }

  private ReplyEffect<EnvironmentEvent, EnvironmentState> onShellsClosed(
      EnvironmentState state, ShellsClosed closed) {
    Environment.CloseShells close = closed.request().orElseThrow();
    if (!closed.all()) {
      closed.refuse(new Failure.HostUnavailable((int) AGAIN.toSeconds()));
    } else if (state instanceof EnvironmentState.Present present) {
      close.replyTo().tell(new Environment.Described(life.view(present)));
    } else {
      close.refuse(close.notFound(self.id()));
    }
    return effects.noReply();
  }

  ReplyEffect<EnvironmentEvent, EnvironmentState> archive(
      EnvironmentState.Present present, Environment.Archive archive) {
    if (present.isArchived()) {
      archive.replyTo().tell(new Environment.Described(life.view(present)));
      return effects.noReply();
    }
    return begin(present, archive, EnvironmentState.Emptying.FOR_ARCHIVE);
  }

  /** Nobody asked for it. */
  ReplyEffect<EnvironmentEvent, EnvironmentState> archiveIdle(EnvironmentState.Present present) {
    life.busy(true);
    return effects
        .store(begun(EnvironmentState.Emptying.FOR_ARCHIVE))
        .thenRun((EnvironmentState next) -> empty(present, Optional.empty()))
        .thenNoReply();
  }

  ReplyEffect<EnvironmentEvent, EnvironmentState> reset(
      EnvironmentState.Present present, Environment.Reset reset) {
    return present.isArchived()
        ? weigh(present, reset)
        : begin(present, reset, EnvironmentState.Emptying.FOR_RESET);
  }

  /**
   * An archived one counts from then on. Should the reset not be stored, this actor starts again
   * and tells the account what the environment is.
   */
  private ReplyEffect<EnvironmentEvent, EnvironmentState> weigh(
      EnvironmentState.Present present, Environment.Reset reset) {
    life.busy(true);
    reviving = true;
    self.context()
        .pipeToSelf(
            self.runtime()
                .accounts()
                .changed(present.account(), self.id(), Account.Change.REVIVING),
            (done, error) ->
                new Weighed(reset, Optional.ofNullable(error).map(EnvironmentEmptying::failure)));
    return effects.noReply();
  }

  private static Failure failure(Throwable error) {
    return Unavailable.of(error).orElse(new Failure.HostUnavailable((int) AGAIN.toSeconds()));
  }

  private ReplyEffect<EnvironmentEvent, EnvironmentState> onWeighed(
      EnvironmentState state, Weighed weighed) {
    if (!reviving || !(state instanceof EnvironmentState.Present present)) {
      // Of an actor before this one.
      weighed.refuse(new Failure.HostUnavailable((int) AGAIN.toSeconds()));
      return effects.noReply();
    }
    reviving = false;
    if (weighed.refusal().isEmpty()) {
      return begin(present, weighed.request(), EnvironmentState.Emptying.FOR_RESET);
    }
    life.busy(false);
    weighed.refuse(weighed.refusal().get());
    return effects.unstashAll();
  }

  private ReplyEffect<EnvironmentEvent, EnvironmentState> begin(
      EnvironmentState.Present present,
      Environment.EmptyingRequest request,
      EnvironmentState.Emptying why) {
    self.unanswered().hold(request);
    if (life.isOpening()) {
      return effects.stash();
    }
    life.busy(true);
    return effects
        .store(begun(why))
        .thenRun(
            (EnvironmentState next) -> {
              self.unanswered().handled(request);
              empty(present, Optional.of(request));
            })
        .thenNoReply();
  }

  private static EnvironmentEvent begun(EnvironmentState.Emptying why) {
    return new EnvironmentEvent.EmptyingBegun(why, System.currentTimeMillis());
  }

  /** Once it is stored that this is begun. */
  void empty(EnvironmentState.Present present, Optional<Environment.EmptyingRequest> request) {
    Workspace place = life.workspace();
    self.context()
        .pipeToSelf(
            shells
                .closeAll(present, place)
                .thenRunAsync(() -> self.work().empty(place), self.blocking()),
            (done, failure) -> failure == null ? new Emptied(request) : new NotEmptied(request));
  }

  private ReplyEffect<EnvironmentEvent, EnvironmentState> onEmptied(
      EnvironmentState state, Emptied emptied) {
    Optional<Environment.EmptyingRequest> request = emptied.request();
    EnvironmentState.Emptying why =
        state instanceof EnvironmentState.Present present
            ? present.emptying()
            : EnvironmentState.Emptying.NONE;
    return switch (why) {
      case NONE, FOR_DELETE -> {
        // An actor before this one had it emptied, and this one again.
        if (state instanceof EnvironmentState.Present present) {
          describe(present, request);
        }
        yield effects.noReply();
      }
      case FOR_ARCHIVE -> {
        self.unanswered().hold(emptied);
        yield archived(emptied);
      }
      case FOR_RESET -> {
        self.unanswered().hold(emptied);
        yield wasReset(state, emptied);
      }
    };
  }

  private ReplyEffect<EnvironmentEvent, EnvironmentState> archived(Emptied emptied) {
    Optional<Environment.EmptyingRequest> request = emptied.request();
    life.measured(0L);
    return effects
        .store(new EnvironmentEvent.Archived(System.currentTimeMillis()))
        .thenRun(
            (EnvironmentState next) -> {
              self.unanswered().handled(emptied);
              life.busy(false);
              if (next instanceof EnvironmentState.Present present) {
                self.tellAccount(present, Account.Change.ARCHIVED);
                describe(present, request);
                if (request.isEmpty()) {
                  noteArchived(present);
                }
              }
            })
        .thenNoReply()
        .thenUnstashAll();
  }

  private void noteArchived(EnvironmentState.Present present) {
    self.runtime()
        .audit()
        .note(
            AuditEvent.of("environment.archive", present.account())
                .with("environment_id", self.id().value()));
  }

  private ReplyEffect<EnvironmentEvent, EnvironmentState> wasReset(
      EnvironmentState state, Emptied emptied) {
    Optional<Environment.EmptyingRequest> request = emptied.request();
    long now = System.currentTimeMillis();
    life.used(now);
    life.measured(0L);
    return effects
        .store(new EnvironmentEvent.Reset(now))
        .thenRun(
            (EnvironmentState next) -> {
              self.unanswered().handled(emptied);
              life.busy(false);
              shells.forget();
              self.forgetShells(state, next);
              if (next instanceof EnvironmentState.Present present) {
                self.tellAccount(present, Account.Change.REVIVED);
                describe(present, request);
              }
            })
        .thenNoReply()
        .thenUnstashAll();
  }

  private void describe(
      EnvironmentState.Present present, Optional<Environment.EmptyingRequest> request) {
    request.ifPresent(r -> r.replyTo().tell(new Environment.Described(life.view(present))));
  }
}
