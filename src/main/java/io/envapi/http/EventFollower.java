package io.envapi.http;

import io.envapi.environment.Environment;
import io.envapi.environment.EnvironmentEvent;
import io.envapi.environment.EnvironmentHistory;
import io.envapi.failure.Failure;
import io.envapi.host.Environments;
import io.envapi.id.EnvironmentId;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.NotUsed;
import org.apache.pekko.japi.Pair;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.util.ByteString;
import org.apache.pekko.util.ByteStringBuilder;

/**
 * Follows what happens to an environment, as server-sent events. Pulls: reads the journal page by
 * page, each when the one before was taken, and when it has read all asks the environment to be
 * told of more. The last event is {@code deleted}, or {@code error}.
 */
final class EventFollower {

  private static final int PAGE = 200;
  private static final Duration HEARTBEAT = Duration.ofSeconds(15);

  /**
   * @param place where the environment was found for its account
   * @param path of the request, for an error on the way
   */
  record Following(EnvironmentId environment, Environments.Place place, String path) {}

  /**
   * How far a stream is.
   *
   * @param last the number of the last event told
   * @param gone whether the environment is not there any more, so that nothing comes after what the
   *     journal has
   */
  private record State(long last, boolean gone, boolean over) {}

  private final Environments environments;
  private final Following following;

  private EventFollower(Environments environments, Following following) {
    this.environments = environments;
    this.following = following;
  }

  /**
   * @param last the number of the last event that the reader has; 0 for none
   */
  static Source<ByteString, NotUsed> events(
      Environments environments, Following following, long last) {
    var follower = new EventFollower(environments, following);
    return Source.unfoldAsync(new State(last, false, false), follower::step)
        .filter(bytes -> !bytes.isEmpty())
        .keepAlive(HEARTBEAT, () -> Sse.COMMENT);
  }

  private CompletionStage<Optional<Pair<State, ByteString>>> step(State state) {
    if (state.over()) {
      return CompletableFuture.completedStage(Optional.empty());
    }
    return environments
        .history(following.environment(), state.last(), PAGE)
        .thenCompose(page -> page.isEmpty() ? more(state) : told(state, page))
        .exceptionally(failure -> failed(state, Front.problem(failure)))
        .thenApply(Optional::of);
  }

  private CompletionStage<Pair<State, ByteString>> told(
      State state, List<EnvironmentHistory.Stored> page) {
    ByteStringBuilder events = ByteString.createBuilder();
    long next = state.last() + 1;
    long first = page.getFirst().number();
    if (first > next) {
      events.append(
          Sse.event(
              "dropped",
              first - 1,
              Json.object()
                  .put("cursor", state.last())
                  .put("next_cursor", first - 1)
                  .put("events", first - next)
                  .put("first_seq", first)));
    }
    for (EnvironmentHistory.Stored each : page) {
      events.append(
          Sse.event(
              EventJson.type(each.event()),
              each.number(),
              EventJson.event(following.environment(), each)));
    }
    EnvironmentHistory.Stored last = page.getLast();
    boolean over = last.event() instanceof EnvironmentEvent.Deleted;
    return CompletableFuture.completedStage(
        Pair.create(new State(last.number(), state.gone(), over), events.result()));
  }

  /** Waits until there is more than the journal had. */
  private CompletionStage<Pair<State, ByteString>> more(State state) {
    if (state.gone()) {
      // Its events went with it before this reader had them.
      return CompletableFuture.completedStage(
          Pair.create(
              new State(state.last(), true, true),
              Sse.event("deleted", EventJson.deleted(following.environment()))));
    }
    return environments
        .<Environment.EventsReply>again(
            following.environment(),
            following.place(),
            HEARTBEAT,
            (_, replyTo) ->
                new Environment.AwaitEvents(state.last(), HEARTBEAT.toMillis(), replyTo))
        .thenApply(
            reply ->
                switch (reply) {
                  case Environment.EventsUpTo _ -> Pair.create(state, ByteString.emptyByteString());
                  // Deleted since the journal was read: what it has now is the rest.
                  case Environment.Refused(Failure.NotFound _) ->
                      Pair.create(
                          new State(state.last(), true, false), ByteString.emptyByteString());
                  case Environment.Refused(var failure) -> failed(state, Problems.of(failure));
                });
  }

  private Pair<State, ByteString> failed(State state, Problem problem) {
    return Pair.create(
        new State(state.last(), false, true), Sse.event("error", problem.body(following.path())));
  }
}
