package io.envapi.environment;

import io.envapi.account.Account;
import io.envapi.failure.Failure;
import io.envapi.failure.Refusable;
import io.envapi.id.AccountId;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.persistence.typed.javadsl.ReplyEffect;

/**
 * How an environment is deleted: its shells are ended and their ends told, then it is removed from
 * the host, then forgotten by its account and by the journal. Each is stored before it is begun, so
 * that a restart of the service goes on with it.
 */
final class EnvironmentRemoval {

  /** What the actor tells itself of its removal. */
  sealed interface Step extends EnvironmentActor.Internal {}

  /** The ends of the shells are told, or do not come in time, for which no delete waits. */
  private record ShellsEnded(Optional<Environment.Delete> request) implements Step, Finishing {}

  private record Removed(Optional<Environment.Delete> request) implements Step, Finishing {}

  /** Something did not end in time; it is tried again. */
  private record NotRemoved(Optional<Environment.Delete> request) implements Step, Finishing {}

  private record RemoveAgain() implements Step {}

  /**
   * @param everywhere whether its account and the journal have done so too
   */
  private record Forgotten(Optional<Environment.Delete> request, boolean everywhere)
      implements Step, Finishing {}

  private record ForgetAgain() implements Step {}

  private static final Duration AGAIN = Duration.ofSeconds(5);
  private static final Duration ENDS_TOLD = Duration.ofSeconds(10);

  private final EnvironmentSelf self;
  private final EnvironmentLife life;
  private final EnvironmentShells shells;
  private final EnvironmentFeed feed;
  private final EnvironmentEffects effects;
  private final ActorRef<EnvironmentActor.EnvironmentGone> host;

  private boolean ending;
  private boolean leaving;

  EnvironmentRemoval(
      EnvironmentSelf self, EnvironmentFeed feed, ActorRef<EnvironmentActor.EnvironmentGone> host) {
    this.self = self;
    this.life = self.life();
    this.shells = self.shells();
    this.feed = feed;
    this.effects = self.effects();
    this.host = host;
  }

  ReplyEffect<EnvironmentEvent, EnvironmentState> on(EnvironmentState state, Step step) {
    return switch (step) {
      case ShellsEnded ended -> onShellsEnded(state, ended);
      case Removed(var request) -> onRemoved(state, request);
      case NotRemoved notRemoved -> {
        notRemoved.refuse(new Failure.HostUnavailable((int) AGAIN.toSeconds()));
        self.context().scheduleOnce(AGAIN, self.context().getSelf(), new RemoveAgain());
        yield effects.noReply();
      }
      case RemoveAgain() -> {
        if (state instanceof EnvironmentState.Gone gone) {
          remove(gone, Optional.empty());
        }
        yield effects.noReply();
      }
      case Forgotten forgotten -> onForgotten(forgotten);
      case ForgetAgain() -> {
        if (state instanceof EnvironmentState.Gone gone) {
          forget(gone.account(), Optional.empty(), true);
        }
        yield effects.noReply();
      }
    };
  }

  /** The host has a place for it that a create left behind which was never finished. */
  void neverMade() {
    leaving = true;
    host.tell(new EnvironmentActor.EnvironmentGone(self.id()));
  }

  /** Its host will stop it, so it must not be made now. */
  boolean isLeaving() {
    return leaving;
  }

  ReplyEffect<EnvironmentEvent, EnvironmentState> delete(
      EnvironmentState.Present present, Environment.Delete delete) {
    self.unanswered().hold(delete);
    if (life.isOpening()) {
      return effects.stash();
    }
    life.busy(true);
    if (present.running().isEmpty() || life.unprepared().isPresent()) {
      return deleted(delete, Optional.of(delete));
    }
    return effects
        .store(
            new EnvironmentEvent.EmptyingBegun(
                EnvironmentState.Emptying.FOR_DELETE, System.currentTimeMillis()))
        .thenRun(
            (EnvironmentState next) -> {
              self.unanswered().handled(delete);
              endShells(present, Optional.of(delete));
            })
        .thenNoReply();
  }

  /** Once it is stored that this is begun. */
  void endShells(EnvironmentState.Present present, Optional<Environment.Delete> request) {
    ending = true;
    self.context()
        .pipeToSelf(
            shells
                .closeAll(present, life.workspace())
                .orTimeout(ENDS_TOLD.toMillis(), TimeUnit.MILLISECONDS),
            (done, failure) -> new ShellsEnded(request));
  }

  private ReplyEffect<EnvironmentEvent, EnvironmentState> onShellsEnded(
      EnvironmentState state, ShellsEnded ended) {
    if (!ending || !(state instanceof EnvironmentState.Present)) {
      // Of an actor before this one, which goes on with the removal by itself.
      ended.refuse(new Failure.HostUnavailable((int) AGAIN.toSeconds()));
      return effects.noReply();
    }
    ending = false;
    self.unanswered().hold(ended);
    return deleted(ended, ended.request());
  }

  /**
   * @param held answered elsewhere once this is stored
   */
  private ReplyEffect<EnvironmentEvent, EnvironmentState> deleted(
      Refusable held, Optional<Environment.Delete> request) {
    return effects
        .store(new EnvironmentEvent.Deleted(System.currentTimeMillis()))
        .thenRun(
            (EnvironmentState next) -> {
              self.unanswered().handled(held);
              if (next instanceof EnvironmentState.Gone gone) {
                remove(gone, request);
              }
            })
        .thenNoReply();
  }

  void remove(EnvironmentState.Gone gone, Optional<Environment.Delete> request) {
    int uid = gone.uid();
    self.context()
        .pipeToSelf(
            shells.killAll().thenRunAsync(() -> self.work().remove(uid), self.blocking()),
            (done, failure) -> failure == null ? new Removed(request) : new NotRemoved(request));
  }

  private ReplyEffect<EnvironmentEvent, EnvironmentState> onRemoved(
      EnvironmentState state, Optional<Environment.Delete> request) {
    shells.forget();
    if (state instanceof EnvironmentState.Gone gone) {
      forget(gone.account(), request, !feed.isFollowed());
    }
    return effects.noReply();
  }

  /**
   * First the account, whose quota it holds; then the journal, after which nothing would remember
   * to tell the account.
   *
   * @param rows whether the journal's rows go too, or stay a while for those who read them
   */
  private void forget(AccountId account, Optional<Environment.Delete> request, boolean rows) {
    EnvironmentRuntime runtime = self.runtime();
    self.context()
        .pipeToSelf(
            runtime
                .accounts()
                .changed(account, self.id(), Account.Change.DELETED)
                .thenCompose(
                    _ ->
                        rows
                            ? runtime.rows().forget(self.id())
                            : CompletableFuture.<Void>completedStage(null)),
            (done, failure) -> new Forgotten(request, rows && failure == null));
  }

  private ReplyEffect<EnvironmentEvent, EnvironmentState> onForgotten(Forgotten forgotten) {
    life.busy(false);
    forgotten.request().ifPresent(r -> r.replyTo().tell(new Environment.Deleted()));
    if (forgotten.everywhere()) {
      host.tell(new EnvironmentActor.EnvironmentGone(self.id()));
    } else {
      self.context()
          .scheduleOnce(
              feed.isFollowed() ? EnvironmentFeed.LINGERING : AGAIN,
              self.context().getSelf(),
              new ForgetAgain());
    }
    return effects.unstashAll();
  }
}
