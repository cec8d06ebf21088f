package io.envapi.http;

import io.envapi.id.AccountId;
import io.envapi.id.EnvironmentId;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.apache.pekko.http.javadsl.model.HttpHeader;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/**
 * What is known of a request from its arrival to its answer, for the log and the metrics. Nothing
 * of it comes from a query, a body or a header that may hold what is not for a log.
 */
final class Visit {

  private static final Logger LOG = LoggerFactory.getLogger(Front.class);

  /** A stretch of a thread's work. */
  interface InLog extends AutoCloseable {
    @Override
    void close();
  }

  /** The route of a request that has none, whatever its path. */
  static final String NO_ROUTE = "unknown";

  private static final Pattern CONTROL = Pattern.compile("\\p{Cntrl}");

  private final String id;
  private final String method;
  private final String path;
  private final Optional<Trace> trace;
  private final long started = System.nanoTime();
  private volatile String route = NO_ROUTE;
  private volatile Optional<AccountId> account = Optional.empty();
  private volatile Optional<EnvironmentId> environment = Optional.empty();

  Visit(HttpRequest request, String path) {
    this.id = RequestIds.of(request);
    this.method = request.method().name();
    this.path = path;
    this.trace = request.getHeader(Trace.HEADER).map(HttpHeader::value).flatMap(Trace::of);
  }

  String id() {
    return id;
  }

  String method() {
    return method;
  }

  String path() {
    return path;
  }

  /** The route's path with names for its variable parts. */
  String route() {
    return route;
  }

  void route(String found) {
    route = found;
  }

  void by(AccountId caller) {
    account = Optional.of(caller);
  }

  void about(EnvironmentId asked) {
    environment = Optional.of(asked);
  }

  long nanos() {
    return System.nanoTime() - started;
  }

  void log(int status) {
    if (!LOG.isInfoEnabled()) {
      return;
    }
    long millis = nanos() / 1_000_000;
    try (var _ = inLog()) {
      if (path.startsWith("/v1/")) {
        LOG.info("{} {} {} {} ms", method, path, status, millis);
      } else {
        LOG.debug("{} {} {} {} ms", method, path, status, millis);
      }
    }
  }

  /** Until it is closed, what this thread logs names this request. */
  InLog inLog() {
    Map<String, String> context = context();
    context.forEach(MDC::put);
    return () -> context.keySet().forEach(MDC::remove);
  }

  /** The keyring says what an account is called, and may say it in several lines. */
  private static String oneLine(String text) {
    return CONTROL.matcher(text).replaceAll("?");
  }

  private Map<String, String> context() {
    var context = new TreeMap<String, String>();
    context.put("request_id", id);
    account.ifPresent(it -> context.put("account", oneLine(it.value())));
    environment.ifPresent(it -> context.put("environment", it.value()));
    trace.ifPresent(
        it -> {
          context.put("trace_id", it.traceId());
          context.put("span_id", it.spanId());
          context.put("parent_span_id", it.parentId());
        });
    return context;
  }
}
