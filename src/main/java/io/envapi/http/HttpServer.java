package io.envapi.http;

import io.envapi.metrics.Metrics;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.http.javadsl.Http;
import org.apache.pekko.http.javadsl.ServerBinding;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.settings.ParserSettings;
import org.apache.pekko.http.javadsl.settings.ServerSettings;
import org.apache.pekko.io.TcpSO;
import org.apache.pekko.japi.function.Function;
import scala.concurrent.duration.FiniteDuration;

/** Listens for requests. */
public final class HttpServer {

  /** A token may be 16 KiB long, a path 4096 bytes that are each sent as three. */
  private static final int MAX_LINE_BYTES = 32 * 1024;

  private static final Duration CHECK = Duration.ofMillis(500);
  private static final int BEYOND = 1000;

  /** Of a silent connection beyond the longest time an answer may take. */
  private static final Duration IDLE_MARGIN = Duration.ofSeconds(30);

  private static final ParserSettings.ErrorLoggingVerbosity QUIET =
      org.apache.pekko.http.scaladsl.settings.ParserSettings.ErrorLoggingVerbosity$.MODULE$.apply(
          "off");

  private HttpServer() {}

  /** Binds; port 0 takes a free one, which the binding tells. */
  public static CompletionStage<ServerBinding> start(
      ActorSystem<?> system, Api api, HttpSettings settings) {
    return start(system, api::handle, settings, api.metrics());
  }

  static CompletionStage<ServerBinding> start(
      ActorSystem<?> system,
      Function<HttpRequest, CompletionStage<HttpResponse>> handler,
      HttpSettings settings,
      Metrics metrics) {
    var connections = new Connections(settings.load());
    metrics.gauge("envapi.http.connections", "Open connections of clients", connections::count);
    var checks =
        system
            .scheduler()
            .scheduleWithFixedDelay(CHECK, CHECK, connections::check, system.executionContext());
    return Http.get(system)
        .newServerAt(settings.host(), settings.port())
        .withSettings(serverSettings(system, settings, connections))
        .bind(connections.watched(handler))
        .whenComplete(
            (binding, failure) -> {
              if (failure == null) {
                binding.whenTerminated().whenComplete((_, _) -> checks.cancel());
              } else {
                checks.cancel();
              }
            });
  }

  private static ServerSettings serverSettings(
      ActorSystem<?> system, HttpSettings settings, Connections connections) {
    ServerSettings defaults = ServerSettings.create(system.classicSystem());
    return defaults
        .withTimeouts(timeouts(defaults, settings))
        .withParserSettings(parserSettings(defaults.getParserSettings(), settings))
        .withParsingErrorHandler(UnparsableRequests.class.getName())
        // Headers and body are two writes; without this the second waits for an acknowledgement.
        .withSocketOptions(List.of(TcpSO.tcpNoDelay(true), connections))
        // Those beyond the limit are let in too, so that they can take the place of idle ones.
        .withMaxConnections(settings.load().connections() + BEYOND)
        .withRemoteAddressAttribute(true)
        .withRawRequestUriHeader(true)
        .withTransparentHeadRequests(false)
        .withServerHeader(Optional.empty());
  }

  private static ServerSettings.Timeouts timeouts(ServerSettings defaults, HttpSettings settings) {
    return defaults
        .getTimeouts()
        .withRequestTimeout(scala(settings.requestTimeout()))
        .withIdleTimeout(scala(settings.requestTimeout().plus(IDLE_MARGIN)));
  }

  private static FiniteDuration scala(Duration duration) {
    return scala.concurrent.duration.Duration.fromNanos(duration.toNanos());
  }

  private static ParserSettings parserSettings(ParserSettings defaults, HttpSettings settings) {
    return defaults
        .withMaxContentLength(settings.maxBodyBytes())
        .withMaxToStrictBytes(settings.maxBodyBytes())
        .withMaxHeaderValueLength(MAX_LINE_BYTES)
        .withMaxUriLength(MAX_LINE_BYTES)
        // The routes read headers as they were sent; and a header that cannot be parsed would be
        // logged with its value.
        .withModeledHeaderParsing(false)
        .withIllegalHeaderWarnings(false)
        .withErrorLoggingVerbosity(QUIET);
  }
}
