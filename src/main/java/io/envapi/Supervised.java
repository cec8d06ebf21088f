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
import org.apache.pekko.actor.typed.internal.PoisonPill;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.persistence.JournalProtocol;
import org.apache.pekko.persistence.typed.EventRejectedException;
import org.apache.pekko.persistence.typed.internal.JournalFailureException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts a failed actor again from its journal, with back-off, and refuses what it cannot answer
 * meanwhile. An actor that is asked to stop, as at hand-over and passivation, stops.
 *
 * <p>An event-sourced behaviour whose journal fails does not throw: Pekko stops it inside of any
 * supervision around it, and what it was asked is lost. Its own supervision for that keeps the
 * fields of the behaviour, which may be ahead of the journal. So the stop is made a failure here.
 */
public final class Supervised {

  private static final Logger LOG = LoggerFactory.getLogger(Supervised.class);

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

  /**
   * Pekko stops a persistent actor whose journal failed; here it restarts instead. A stop that was
   * asked for, as by hand-over and passivation, passes: Pekko carries it out once what is being
   * written or recovered is done.
   */
  private static final class StopFails<T> extends BehaviorInterceptor<T, T> {

    private final Unanswered unanswered;
    private Failure why = new Failure.Internal();
    private boolean stopAsked;

    StopFails(Unanswered unanswered) {
      super(everything());
      this.unanswered = unanswered;
    }

    @Override
    public Behavior<T> aroundReceive(
        TypedActorContext<T> context, T message, ReceiveTarget<T> target) {
      unanswered.hold(message);
      try {
        Behavior<T> next = target.apply(context, message);
        if (!Behavior.isAlive(next) && !isAskedFor(next)) {
          journalFailed();
          throw new IllegalStateException("the journal failed");
        }
        if ((Object) message instanceof JournalProtocol.RecoverySuccess) {
          unanswered.failing(false);
        }
        return next;
      } catch (JournalFailureException | EventRejectedException e) {
        journalFailed();
        return failed(e);
      } catch (RuntimeException e) {
        return failed(e);
      }
    }

    private boolean isAskedFor(Behavior<T> stop) {
      return stopAsked && stop.equals(Behaviors.<T>stopped());
    }

    /** An actor that is started again has forgotten that it is to stop. */
    private Behavior<T> failed(RuntimeException e) {
      if (!stopAsked) {
        throw e;
      }
      LOG.warn("an actor failed while it was to stop", e);
      unanswered.refuseAll(why);
      return Behaviors.stopped();
    }

    private void journalFailed() {
      why = JOURNAL;
      unanswered.failing(true);
    }

    /** The actor itself first: it may know better answers for some. */
    @Override
    public Behavior<T> aroundSignal(
        TypedActorContext<T> context, Signal signal, SignalTarget<T> target) {
      if (signal instanceof PoisonPill) {
        stopAsked = true;
      }
      Behavior<T> next = target.apply(context, signal);
      if (signal instanceof PreRestart) {
        unanswered.refuseAll(why);
      }
      return next;
    }
  }
}
