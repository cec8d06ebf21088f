package io.envapi.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.FileDescriptorMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * The metrics of one service. Labels have few values, all known beforehand: no account, environment
 * or path is ever one. Safe for use by several threads, and cheap enough for every request.
 */
public final class Metrics implements AutoCloseable {

  /** Of {@link #text}. */
  public static final String MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8";

  private static final Set<String> METHODS =
      Set.of("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS");

  /** Upper edges of the histograms' buckets. */
  private static final Duration[] LATENCIES = {
    Duration.ofMillis(1),
    Duration.ofMillis(2),
    Duration.ofMillis(5),
    Duration.ofMillis(10),
    Duration.ofMillis(25),
    Duration.ofMillis(50),
    Duration.ofMillis(100),
    Duration.ofMillis(250),
    Duration.ofMillis(500),
    Duration.ofSeconds(1),
    Duration.ofSeconds(5),
    Duration.ofSeconds(30),
    Duration.ofSeconds(120),
    Duration.ofSeconds(600)
  };

  private record Answered(String route, String method, int status) {}

  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final JvmGcMetrics collections = new JvmGcMetrics();
  private final Map<Answered, Timer> requests = new ConcurrentHashMap<>();
  private final Map<String, Timer> starts = new ConcurrentHashMap<>();
  private final Map<String, Counter> ends = new ConcurrentHashMap<>();
  private final Timer journalWrites = timer("envapi.journal.write", "Writes of the journal");
  private final Counter journalFailures =
      counter("envapi.journal.failures", "Writes and reads of the journal that failed");
  private final Counter askTimeouts =
      counter("envapi.ask.timeouts", "Requests that a part of the service did not answer in time");
  private final Counter outputBytes =
      counter("envapi.command.output.bytes", "Output of shells, redacted");
  private final Counter failedStarts =
      counter("envapi.shell.start.failures", "Shells that could not be started");

  public Metrics() {
    new JvmMemoryMetrics().bindTo(registry);
    new JvmThreadMetrics().bindTo(registry);
    new ProcessorMetrics().bindTo(registry);
    new UptimeMetrics().bindTo(registry);
    new FileDescriptorMetrics().bindTo(registry);
    collections.bindTo(registry);
  }

  /**
   * A request was answered; a stream is when it begins.
   *
   * @param route with names for the variable parts of its path
   */
  public void request(String route, String method, int status, long nanos) {
    String known = METHODS.contains(method) ? method : "other";
    requests
        .computeIfAbsent(new Answered(route, known, status), this::requests)
        .record(nanos, TimeUnit.NANOSECONDS);
  }

  private Timer requests(Answered answered) {
    return Timer.builder("envapi.http.requests")
        .description("Requests until their answer begins")
        .tag("route", answered.route())
        .tag("method", answered.method())
        .tag("status", Integer.toString(answered.status()))
        .serviceLevelObjectives(LATENCIES)
        .register(registry);
  }

  /** A request failed because a part of the service gave no answer in time. */
  public void askTimedOut() {
    askTimeouts.increment();
  }

  public void shellStarted(String tier, long nanos) {
    starts
        .computeIfAbsent(
            tier,
            it ->
                Timer.builder("envapi.shell.starts")
                    .description("Shells from their request to their first prompt")
                    .tag("tier", it)
                    .serviceLevelObjectives(LATENCIES)
                    .register(registry))
        .record(nanos, TimeUnit.NANOSECONDS);
  }

  public void shellNotStarted() {
    failedStarts.increment();
  }

  /**
   * @param reason one of the few there are
   */
  public void commandEnded(String reason) {
    ends.computeIfAbsent(
            reason,
            it ->
                Counter.builder("envapi.commands")
                    .description("Commands that ended")
                    .tag("reason", it)
                    .register(registry))
        .increment();
  }

  public void printed(int bytes) {
    outputBytes.increment(bytes);
  }

  public void journalWrote(long nanos, boolean failed) {
    journalWrites.record(nanos, TimeUnit.NANOSECONDS);
    if (failed) {
      journalFailures.increment();
    }
  }

  public void journalReadFailed() {
    journalFailures.increment();
  }

  /** Something that is looked at whenever the metrics are. */
  public void gauge(String name, String description, Supplier<Number> value) {
    Gauge.builder(name, value).description(description).register(registry);
  }

  /** All of them, in the text format of Prometheus. */
  public String text() {
    return registry.scrape();
  }

  private Timer timer(String name, String description) {
    return Timer.builder(name)
        .description(description)
        .serviceLevelObjectives(LATENCIES)
        .register(registry);
  }

  private Counter counter(String name, String description) {
    return Counter.builder(name).description(description).register(registry);
  }

  @Override
  public void close() {
    collections.close();
    registry.close();
  }
}
