package io.envapi;

import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.internal.PoisonPill;

/** Has actors stop as sharding does, at hand-over and passivation. */
public final class Stops {

  private Stops() {}

  public static void ask(ActorRef<?> actor) {
    actor.unsafeUpcast().tell(PoisonPill.instance());
  }
}
