package io.envapi.host;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.cluster.sharding.typed.javadsl.EntityRef;

/**
 * Asks an entity of the cluster what may as well be asked twice. A question can be lost while the
 * entity moves to another host, which is no reason to fail a request.
 */
final class PatientAsk {

  /** Of the time for an answer, what passes before the question counts as lost. */
  private static final int PART = 4;

  private PatientAsk() {}

  /**
   * @param usual the time for an answer when all is well
   * @param longest the time for an answer in all
   */
  static <M, R> CompletionStage<R> ask(
      EntityRef<M> entity, Duration usual, Duration longest, Function<ActorRef<R>, M> question) {
    Duration first = usual.dividedBy(PART);
    return entity
        .<R>ask(question::apply, first)
        .exceptionallyCompose(
            failure ->
                isLate(failure)
                    ? entity.ask(question::apply, longest.minus(first))
                    : CompletableFuture.failedStage(failure));
  }

  private static boolean isLate(Throwable failure) {
    return failure instanceof TimeoutException || failure.getCause() instanceof TimeoutException;
  }
}
