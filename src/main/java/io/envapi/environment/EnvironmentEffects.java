package io.envapi.environment;

import io.envapi.failure.Failure;
import java.util.List;
import java.util.function.LongSupplier;
import org.apache.pekko.persistence.typed.javadsl.EffectBuilder;
import org.apache.pekko.persistence.typed.javadsl.EffectFactories;
import org.apache.pekko.persistence.typed.javadsl.ReplyEffect;

/** What a message to an environment comes to. Every event is stored through here. */
final class EnvironmentEffects {

  private final EffectFactories<EnvironmentEvent, EnvironmentState> factories;
  private final EnvironmentFeed feed;
  private final LongSupplier lastNumber;

  /**
   * @param lastNumber the number of the newest event that is stored
   */
  EnvironmentEffects(
      EffectFactories<EnvironmentEvent, EnvironmentState> factories,
      EnvironmentFeed feed,
      LongSupplier lastNumber) {
    this.factories = factories;
    this.feed = feed;
    this.lastNumber = lastNumber;
  }

  /** Stores {@code event}, after what happened in the shells before it. */
  EffectBuilder<EnvironmentEvent, EnvironmentState> store(EnvironmentEvent event) {
    return store(feed.takeBefore(event));
  }

  EffectBuilder<EnvironmentEvent, EnvironmentState> store(List<EnvironmentEvent> events) {
    return factories.persist(events).thenRun(() -> feed.stored(lastNumber.getAsLong()));
  }

  EffectBuilder<EnvironmentEvent, EnvironmentState> none() {
    return factories.none();
  }

  ReplyEffect<EnvironmentEvent, EnvironmentState> noReply() {
    return factories.noReply();
  }

  ReplyEffect<EnvironmentEvent, EnvironmentState> refuse(
      Environment.Request request, Failure failure) {
    request.refuse(failure);
    return factories.noReply();
  }

  /** The message waits for the next {@link #unstashAll}. */
  ReplyEffect<EnvironmentEvent, EnvironmentState> stash() {
    return factories.stash();
  }

  /** What waited is taken up. */
  ReplyEffect<EnvironmentEvent, EnvironmentState> unstashAll() {
    return factories.none().thenNoReply().thenUnstashAll();
  }
}
