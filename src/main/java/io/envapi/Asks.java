package io.envapi;

import io.envapi.failure.Failure;
import io.envapi.failure.Unavailable;
import org.apache.pekko.actor.Status;
import org.apache.pekko.actor.typed.ActorRef;

/** Asks between actors. */
public final class Asks {

  private Asks() {}

  /** Makes the ask that {@code replyTo} belongs to fail with {@link Unavailable}. */
  public static void fail(ActorRef<?> replyTo, Failure failure) {
    replyTo.unsafeUpcast().tell(new Status.Failure(new Unavailable(failure)));
  }
}
