package io.envapi;

import java.time.Duration;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.BehaviorInterceptor;
import org.apache.pekko.actor.typed.SupervisorStrategy;
import org.apache.pekko.actor.typed.TypedActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;

/**
 * Starts a failed actor again from its journal, with back-off.
 *
 * <p>An event-sourced behaviour whose journal fails does not throw: Pekko stops it inside of any
 * supervision around it, and what it is asked later is lost. Its own supervision for that keeps the
 * fields of the behaviour, which may be ahead of the journal. So the stop is made a failure here.
 */
public final class Supervised {

  private static final SupervisorStrategy RESTART =
      SupervisorStrategy.restartWithBackoff(Duration.ofMillis(100), Duration.ofSeconds(10), 0.2);

  private Supervised() {}

  /** {@code actor} never ends by itself, only when its parent stops it. */
  public static <T> Behavior<T> restarting(Behavior<T> actor) {
    Behavior<T> failing = Behaviors.intercept(() -> new StopFails<T>(), actor);
    return Behaviors.supervise(failing).onFailure(RESTART);
  }

  private static final class StopFails<T> extends BehaviorInterceptor<T, T> {

    /** The journal's answers too, which are of no type that the actor declares. */
    @SuppressWarnings("unchecked")
    StopFails() {
      super((Class<T>) Object.class);
    }

    @Override
    public Behavior<T> aroundReceive(
        TypedActorContext<T> context, T message, ReceiveTarget<T> target) {
      Behavior<T> next = target.apply(context, message);
      if (!Behavior.isAlive(next)) {
        throw new IllegalStateException("the journal failed");
      }
      return next;
    }
  }
}
