package io.envapi.http;

import io.envapi.failure.Unavailable;
import io.envapi.id.AccountId;
import io.envapi.keyring.Caller;
import io.envapi.metrics.Metrics;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.apache.pekko.Done;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.model.headers.RawRequestURI;
import org.apache.pekko.http.javadsl.model.headers.TimeoutAccess;
import org.apache.pekko.stream.Materializer;
import org.apache.pekko.stream.javadsl.Sink;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes every request and answers every request: finds its endpoint, lets the caller in, and turns
 * the answer, or whatever went wrong, into a response with an id.
 */
final class Front {

  private static final Logger LOG = LoggerFactory.getLogger(Front.class);

  /** An upload that is much larger than allowed is cut off rather than read to its end. */
  private static final int DRAINED_BODIES = 4;

  private static final Duration DRAINED_PAUSE = Duration.ofSeconds(1);

  private final RouteTable routes;
  private final Gate gate;
  private final UnaryOperator<RouteTable.ForCaller> once;
  private final Set<AccountId> operators;
  private final HttpSettings settings;
  private final BodyBudget bodies;
  private final Load load;
  private final Stopping stopping;
  private final Metrics metrics;
  private final Materializer materializer;

  /**
   * @param once makes of a route one that carries out each request with an idempotency key once
   * @param stopping ends the streams of events
   */
  Front(
      RouteTable routes,
      Gate gate,
      UnaryOperator<RouteTable.ForCaller> once,
      HttpSettings settings,
      Stopping stopping,
      Metrics metrics,
      Materializer materializer) {
    this.routes = routes;
    this.gate = gate;
    this.once = once;
    this.operators = settings.operatorAccounts();
    this.settings = settings;
    this.bodies = BodyBudget.of(settings.maxBodyBytes());
    this.stopping = stopping;
    this.metrics = metrics;
    this.materializer = materializer;
    this.load = new Load(settings.load(), System::nanoTime, materializer);
    metrics.gauge(
        "envapi.http.requests.active", "Requests of accounts in progress", load::requests);
    metrics.gauge("envapi.http.streams", "Streams being read", load::streams);
  }

  CompletionStage<HttpResponse> handle(HttpRequest request) {
    if (UnparsableRequests.hasBrokenHeader(request)) {
      return CompletableFuture.completedStage(UnparsableRequests.broken());
    }
    String path = path(request);
    var visit = new Visit(request, path);
    String id = visit.id();
    request
        .getHeader(TimeoutAccess.class)
        .ifPresent(
            access ->
                access
                    .timeoutAccess()
                    .updateHandler(_ -> Responses.of(Problems.noAnswer(), path, id)));
    return answer(request, visit)
        .handle(
            (answer, failure) -> {
              HttpResponse response =
                  Responses.of(failure == null ? answer : problem(failure, visit), path, id);
              int status = response.status().intValue();
              metrics.request(visit.route(), visit.method(), status, visit.nanos());
              visit.log(status);
              return response;
            })
        .thenCompose(response -> unread(request).thenApply(_ -> response));
  }

  private CompletionStage<Answer> answer(HttpRequest request, Visit visit) {
    try {
      return switch (routes.find(visit.method(), visit.path())) {
        case RouteTable.Nowhere() -> Problems.noSuchRoute().now();
        case RouteTable.WrongMethod(var allowed, var open) -> {
          Problem problem = Problems.wrongMethod(allowed);
          // What a guarded path can do is not for strangers, in whatever method they ask.
          yield open
              ? problem.now()
              : admitted(exchange(request, visit, Map.of()), _ -> problem.now());
        }
        case RouteTable.Found(var template, var endpoint, var parameters) -> {
          visit.route(template);
          yield answer(endpoint, exchange(request, visit, parameters));
        }
      };
    } catch (RuntimeException e) {
      return CompletableFuture.failedStage(e);
    }
  }

  private Exchange exchange(HttpRequest request, Visit visit, Map<String, String> parameters) {
    return new Exchange(request, visit, parameters, settings, bodies, materializer);
  }

  private CompletionStage<Answer> answer(RouteTable.Endpoint endpoint, Exchange exchange) {
    return switch (endpoint) {
      case RouteTable.Open open -> open.answer(exchange);
      case RouteTable.ForCaller route ->
          admitted(exchange, caller -> once.apply(route).answer(exchange, caller));
      case RouteTable.ForOperator(var route, var denied) ->
          admitted(
              exchange,
              caller ->
                  operators.contains(caller.account())
                      ? once.apply(route).answer(exchange, caller)
                      : denied.answer(exchange, caller));
    };
  }

  private CompletionStage<Answer> admitted(
      Exchange exchange, Function<Caller, CompletionStage<Answer>> then) {
    return gate.admit(exchange)
        .thenCompose(
            admission ->
                switch (admission) {
                  case Gate.Admitted(var caller) -> taken(exchange, caller, then);
                  case Gate.Denied(var problem) -> problem.now();
                });
  }

  private CompletionStage<Answer> taken(
      Exchange exchange, Caller caller, Function<Caller, CompletionStage<Answer>> then) {
    AccountId account = caller.account();
    exchange.visit().by(account);
    boolean stream = exchange.wantsEvents();
    Optional<Problem> refusal = load.enter(account, stream);
    if (refusal.isPresent()) {
      return refusal.get().now();
    }
    return attempt(caller, then)
        .handle(
            (answer, failure) -> {
              if (failure == null && answer instanceof Answer.Events events) {
                return load.leave(account, stream, ending(events, exchange, caller));
              }
              load.leave(account, stream);
              if (failure != null) {
                throw failure instanceof CompletionException known
                    ? known
                    : new CompletionException(failure);
              }
              return answer;
            });
  }

  /** What a request began is told to its end; who only watches needs a token for as long. */
  private Answer.Events ending(Answer.Events events, Exchange exchange, Caller caller) {
    Instant until = exchange.changes() ? Instant.MAX : caller.until();
    return stopping.ending(events, exchange.path(), until, exchange.gone());
  }

  private static CompletionStage<Answer> attempt(
      Caller caller, Function<Caller, CompletionStage<Answer>> then) {
    try {
      return then.apply(caller);
    } catch (RuntimeException e) {
      return CompletableFuture.failedStage(e);
    }
  }

  private Problem problem(Throwable failure, Visit visit) {
    try (var _ = visit.inLog()) {
      Problem problem = problem(failure);
      if (problem.code() == ProblemCode.HOST_UNAVAILABLE) {
        metrics.askTimedOut();
      }
      return problem;
    }
  }

  /** The answer when something went wrong that is no refusal; logs what it was. */
  static Problem problem(Throwable failure) {
    Throwable cause =
        failure instanceof CompletionException && failure.getCause() != null
            ? failure.getCause()
            : failure;
    if (cause instanceof TimeoutException) {
      LOG.warn("no answer in time: {}", cause.getMessage());
      return Problems.noAnswer();
    }
    if (cause instanceof Unavailable unavailable) {
      LOG.warn("a part of the service is not available: {}", unavailable.getMessage());
      return Problems.of(unavailable.failure());
    }
    if (cause instanceof BrokenBody broken) {
      LOG.info("a body broke off: {}", broken.getMessage());
      return Problems.brokenBody();
    }
    LOG.error("a request failed", cause);
    return Problems.internal();
  }

  /** The path as it stands in the request line. */
  private static String path(HttpRequest request) {
    String target =
        request
            .getHeader(RawRequestURI.class)
            .map(RawRequestURI::uri)
            .filter(raw -> raw.startsWith("/"))
            .orElseGet(() -> request.getUri().path());
    int end = target.indexOf('?');
    return end < 0 ? target : target.substring(0, end);
  }

  /**
   * Reads what the routes left of a body: after an answer that is sent before its end the
   * connection is closed, and a client that reads no answer before it has sent everything would
   * never see this one. Not for a client that waits for a sign, or for the answer, before it sends
   * the body.
   */
  private CompletionStage<Done> unread(HttpRequest request) {
    if (request.entity().isStrict() || request.getHeader("Expect").isPresent()) {
      return CompletableFuture.completedStage(Done.getInstance());
    }
    return request
        .entity()
        .withoutSizeLimit()
        .getDataBytes()
        .limitWeighted(DRAINED_BODIES * settings.maxBodyBytes(), piece -> (long) piece.size())
        .idleTimeout(DRAINED_PAUSE)
        .completionTimeout(settings.load().bodyTimeout())
        .runWith(Sink.ignore(), materializer)
        .exceptionally(_ -> Done.getInstance());
  }
}
