package io.envapi.http;

import io.envapi.metrics.Metrics;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.Done;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.http.javadsl.Http;
import org.apache.pekko.http.javadsl.ServerBinding;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.model.Uri;
import org.apache.pekko.http.javadsl.model.headers.Host;
import org.apache.pekko.http.javadsl.settings.ParserSettings;
import org.apache.pekko.http.javadsl.settings.ServerSettings;
import org.apache.pekko.io.TcpSO;
import org.apache.pekko.japi.function.Function;
import org.apache.pekko.pattern.Patterns;
import org.apache.pekko.stream.SystemMaterializer;
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

  /** How long the streams of readers that do not read hold up what ends after them. */
  private static final Duration LAST_EVENTS = Duration.ofSeconds(1);

  private static final Duration POLL = Duration.ofMillis(20);

  private final ActorSystem<?> system;
  private final ServerBinding binding;
  private final Connections connections;
  private final Stopping stopping;

  private HttpServer(
      ActorSystem<?> system, ServerBinding binding, Connections connections, Stopping stopping) {
    this.system = system;
    this.binding = binding;
    this.connections = connections;
    this.stopping = stopping;
  }

  /** Binds; port 0 takes a free one. */
  public static CompletionStage<HttpServer> start(
      ActorSystem<?> system, Api api, HttpSettings settings) {
    return start(system, api::handle, api.stopping(), settings, api.metrics());
  }

  static CompletionStage<HttpServer> start(
      ActorSystem<?> system,
      Function<HttpRequest, CompletionStage<HttpResponse>> handler,
      Stopping stopping,
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
        .bindFlow(
            HangUps.watched(
                connections.watched(handler),
                SystemMaterializer.get(system.classicSystem()).materializer()))
        .whenComplete(
            (binding, failure) -> {
              if (failure == null) {
                binding.whenTerminated().whenComplete((_, _) -> checks.cancel());
              } else {
                checks.cancel();
              }
            })
        .thenApply(binding -> new HttpServer(system, binding, connections, stopping));
  }

  public InetSocketAddress localAddress() {
    return binding.localAddress();
  }

  /** Takes no more connections. */
  public CompletionStage<Done> unbind() {
    return binding.unbind();
  }

  /**
   * Ends the streams of events, each with an event that says so, then lets the other requests end,
   * and ends the connections.
   *
   * @param grace after it they are cut off
   */
  public CompletionStage<Done> end(Duration grace) {
    long began = System.nanoTime();
    stopping.begin();
    // Pekko cuts off at once what has begun to be answered; only what waits for an answer gets the
    // grace.
    Duration patience = LAST_EVENTS.compareTo(grace) < 0 ? LAST_EVENTS : grace;
    return lastEventsSent(began + patience.toNanos())
        .thenCompose(
            _ ->
                binding.terminate(
                    grace.minusNanos(Math.min(System.nanoTime() - began, grace.toNanos()))))
        .thenApply(_ -> Done.getInstance());
  }

  private CompletionStage<Done> lastEventsSent(long deadline) {
    return connections.hasStreams() && System.nanoTime() - deadline < 0
        ? Patterns.after(POLL, system.classicSystem(), () -> lastEventsSent(deadline))
        : CompletableFuture.completedStage(Done.getInstance());
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
        // HTTP/1.0 has none, and probes of load balancers still speak it.
        .withDefaultHostHeader(Host.create("localhost"))
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
        // A path or a glob may be sent as it is: [ ] | ^ and the like.
        .withUriParsingMode(Uri.RELAXED)
        // The routes read headers as they were sent; and a header that cannot be parsed would be
        // logged with its value.
        .withModeledHeaderParsing(false)
        .withIllegalHeaderWarnings(false)
        .withErrorLoggingVerbosity(QUIET);
  }
}
