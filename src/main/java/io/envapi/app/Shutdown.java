package io.envapi.app;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.envapi.http.HttpServer;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.pekko.Done;
import org.apache.pekko.actor.CoordinatedShutdown;
import org.apache.pekko.actor.typed.ActorSystem;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How the service ends: it stops listening, ends the streams of events, lets requests end, ends the
 * shells, and then its actors and its journal.
 *
 * <p>The grace is for all of it up to the shells' end. Requests get what the shells do not need; a
 * request that waits for a shell longer than that is answered when its shell ends.
 */
final class Shutdown {

  private static final Logger LOG = LoggerFactory.getLogger(Shutdown.class);

  /** Beyond the grace, for the journal to take the ends of the shells. */
  private static final Duration MARGIN = Duration.ofSeconds(5);

  /** What a shell gives as the status of a process that SIGKILL ended. */
  private static final int STATUS_KILLED = 137;

  private final Service service;
  private final HttpServer http;
  private final Duration grace;
  private final Duration shellGrace;

  /**
   * @param shellGrace how long a shell may take from SIGTERM; at most half of {@code grace} is used
   */
  Shutdown(Service service, HttpServer http, Duration grace, Duration shellGrace) {
    this.service = service;
    this.http = http;
    this.grace = grace;
    Duration half = grace.dividedBy(2);
    this.shellGrace = shellGrace.compareTo(half) < 0 ? shellGrace : half;
  }

  /** The time Pekko allows the phase in which requests and shells end. */
  static Config config(Duration grace) {
    return ConfigFactory.parseMap(
        Map.of(
            "pekko.coordinated-shutdown.phases.service-requests-done.timeout",
            grace.plus(MARGIN).toMillis() + "ms"));
  }

  /**
   * From now on SIGTERM, SIGINT and SIGHUP end the service in order, with status 0, and the second
   * of them ends it at once. Without this the JVM would begin to exit on the first, with a status
   * of its own, and ignore the second.
   */
  static void onSignals(ActorSystem<?> system) {
    var ending = new AtomicBoolean();
    for (String signal : List.of("TERM", "INT", "HUP")) {
      onSignal(
          signal,
          () -> {
            if (ending.getAndSet(true)) {
              Runtime.getRuntime().halt(STATUS_KILLED);
            }
            LOG.info("SIG{}: ending", signal);
            CoordinatedShutdown.get(system).runAll(CoordinatedShutdown.jvmExitReason());
          });
    }
  }

  /**
   * By reflection: the compiler has a warning for {@code sun.misc.Signal} that nothing turns off.
   */
  private static void onSignal(String name, Runnable action) {
    InvocationHandler handler =
        (proxy, method, arguments) -> {
          action.run();
          return null;
        };
    try {
      Class<?> signal = Class.forName("sun.misc.Signal");
      Class<?> handling = Class.forName("sun.misc.SignalHandler");
      Object proxy =
          Proxy.newProxyInstance(
              Shutdown.class.getClassLoader(), new Class<?>[] {handling}, handler);
      signal
          .getMethod("handle", signal, handling)
          .invoke(null, signal.getConstructor(String.class).newInstance(name), proxy);
    } catch (ReflectiveOperationException e) {
      LOG.warn("SIG{} will end the service without order", name, e);
    }
  }

  void register() {
    CoordinatedShutdown phases = CoordinatedShutdown.get(service.system());
    phases.addTask(CoordinatedShutdown.PhaseServiceUnbind(), "stop-listening", this::unbind);
    phases.addTask(CoordinatedShutdown.PhaseServiceRequestsDone(), "end-requests", this::drain);
  }

  private CompletionStage<Done> unbind() {
    return http.unbind();
  }

  private CompletionStage<Done> drain() {
    CompletableFuture<?> answered = http.end(grace).toCompletableFuture();
    CompletableFuture<Void> patience = new CompletableFuture<>();
    Executor later =
        CompletableFuture.delayedExecutor(
            grace.minus(shellGrace).toMillis(), TimeUnit.MILLISECONDS, service.blocking());
    later.execute(() -> patience.complete(null));
    return CompletableFuture.anyOf(answered, patience)
        .thenCompose(first -> service.endShells(shellGrace))
        .thenCombine(answered, (ended, done) -> Done.getInstance());
  }
}
