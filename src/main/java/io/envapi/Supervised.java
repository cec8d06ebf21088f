package io.envapi;

import io.envapi.failure.Failure;
import io.envapi.failure.Refusable;
import java.time.Duration;
import java.util.function.Function;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.BehaviorInterceptor;
import org.apache.pekko.actor.typed.PreRestart;
import org.apache.pekko.actor.typed.Signal;
import org.apache.pekko.actor.typed.SupervisorStrategy;
import org.apache.pekko.actor.typed.TypedActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.persistence.JournalProtocol;
import org.apache.pekko.persistence.typed.EventRejectedException;
import org.apache.pekko.persistence.typed.internal.JournalFailureException;

/**
 * Starts a failed actor again from its journal, with back-off, and refuses what it cannot answer
 * meanwhile.
 *
 * <p>An event-sourced behaviour whose journal fails does not throw: Pekko stops it inside of any
 * supervision around it, and what it was asked is lost. Its own supervision for that keeps the
 * fields of the behaviour, which may be ahead of the journal. So the stop is made a failure here.
 */
public final class Supervised {

  private static final SupervisorStrategy RESTART =
      SupervisorStrategy.restartWithBackoff(Duration.ofMillis(100), Duration.ofSeconds(5), 0.2);

  private static final Failure JOURNAL = new Failure.JournalUnavailable(2);

  private Supervised() {}

  /**
   * {@code actor} never ends by itself, only when its parent stops it. It calls {@link
   * Unanswered#handled} for each {@link Refusable} that it takes up, and {@link Unanswered#hold}
   * for one whose event it is about to store.
   */
  public static <T> Behavior<T> restarting(Function<Unanswered, Behavior<T>> actor) {
    return Behaviors.setup(
        context -> {
          var unanswered = new Unanswered();
          Behavior<T> failing =
              Behaviors.intercept(() -> new StopFails<T>(unanswered), actor.apply(unanswered));
          Behavior<T> supervised = Behaviors.supervise(failing).onFailure(RESTART);
          return Behaviors.intercept(() -> new RefuseWhileFailing<T>(unanswered), supervised);
        });
  }

  /** The journal's answers too, which are of no type that the actor declares. */
  @SuppressWarnings("unchecked")
  private static <T> Class<T> everything() {
    return (Class<T>) Object.class;
  }

  /** Outside of the supervision, which would keep what comes until the journal is back. */
  private static final class RefuseWhileFailing<T> extends BehaviorInterceptor<T, T> {

    private final Unanswered unanswered;

    RefuseWhileFailing(Unanswered unanswered) {
      super(everything());
      this.unanswered = unanswered;
    }

    @Override
    public Behavior<T> aroundReceive(
        TypedActorContext<T> context, T message, ReceiveTarget<T> target) {
      if (unanswered.isFailing() && message instanceof Refusable request) {
        request.refuse(JOURNAL);
        return Behaviors.same();
      }
      return target.apply(context, message);
    }
  }

  private static final class StopFails<T> extends BehaviorInterceptor<T, T> {

    private final Unanswered unanswered;
    private Failure why = new Failure.Internal();

    StopFails(Unanswered unanswered) {
      super(everything());
      this.unanswered = unanswered;
    }

    @Override
    public Behavior<T> aroundReceive(
        TypedActorContext<T> context, T message, ReceiveTarget<T> target) {
      unanswered.hold(message);
      Behavior<T> next;
      try {
        next = target.apply(context, message);
      } catch (JournalFailureException | EventRejectedException e) {
        journalFailed();
        throw e;
      }
      if (!Behavior.isAlive(next)) {
        journalFailed();
        throw new IllegalStateException("the journal failed");
      }
      if ((Object) message instanceof JournalProtocol.RecoverySuccess) {
        unanswered.failing(false);
      }
      return next;
    }

    private void journalFailed() {
      why = JOURNAL;
      unanswered.failing(true);
    }

    /** The actor itself first: it may know better answers for some. */
    @Override
    public Behavior<T> aroundSignal(
        TypedActorContext<T> context, Signal signal, SignalTarget<T> target) {
      Behavior<T> next = target.apply(context, signal);
      if (signal instanceof PreRestart) {
        unanswered.refuseAll(why);
      }
      return next;
    }
  }
}
