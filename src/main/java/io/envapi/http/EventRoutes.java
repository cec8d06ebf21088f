package io.envapi.http;

import io.envapi.environment.Environment;
import io.envapi.host.Environments;
import io.envapi.id.EnvironmentId;
import io.envapi.keyring.Caller;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** {@code /v1/environments/{id}/events}: what happened to an environment, and what happens. */
final class EventRoutes {

  private final Environments environments;

  EventRoutes(Environments environments) {
    this.environments = environments;
  }

  void addTo(RouteTable routes) {
    routes.on("/v1/environments/{environment}/events").get(this::events);
  }

  private CompletionStage<Answer> events(Exchange exchange, Caller caller) {
    return exchange.environment(
        id ->
            exchange.query(
                query -> lastSeen(exchange, query), last -> events(exchange, caller, id, last)));
  }

  /** The number of the last event that the reader has. */
  private static long lastSeen(Exchange exchange, Query query) {
    long cursor = query.integer("cursor", 0, 0, Long.MAX_VALUE);
    List<String> last = exchange.headers("Last-Event-ID");
    if (last.isEmpty()) {
      return cursor;
    }
    if (last.size() > 1 || !last.getFirst().matches("[0-9]{1,18}")) {
      query.headerFault(
          "Last-Event-ID", "must be the id of an event of this stream", "int_parsing");
      return 0;
    }
    return Long.parseLong(last.getFirst());
  }

  /** Asks the environment first: that is the check of ownership. */
  private CompletionStage<Answer> events(
      Exchange exchange, Caller caller, EnvironmentId id, long last) {
    var found = new CompletableFuture<Environments.Place>();
    return environments
        .<Environment.EventsReply>environment(
            caller.account(),
            id,
            Duration.ZERO,
            (place, replyTo) -> {
              found.complete(place);
              return new Environment.AwaitEvents(last, 0, replyTo);
            })
        .thenApply(
            reply ->
                switch (reply) {
                  // The environment was asked, so its place was found.
                  case Environment.EventsUpTo _ ->
                      new Answer.Events(
                          EventFollower.events(
                              environments,
                              new EventFollower.Following(id, found.join(), exchange.path()),
                              last));
                  case Environment.Refused(var failure) -> Problems.of(failure);
                });
  }
}
