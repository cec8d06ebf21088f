package io.envapi.http;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.envapi.keyring.Caller;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** {@code /v1/admin/log-level}: how much is logged, for operators. */
final class LogLevelRoutes {

  private static final Map<String, String> LEVELS =
      Stream.of("TRACE", "DEBUG", "INFO", "WARN", "ERROR")
          .collect(Collectors.toUnmodifiableMap(Function.identity(), Function.identity()));

  /** Our own code: what libraries say at DEBUG may hold what callers sent. */
  private static final Pattern OURS = Pattern.compile("io\\.envapi(\\.[A-Za-z0-9_]{1,64}){0,8}");

  private record Wanted(String logger, String level) {

    static Wanted read(Fields body) {
      String logger = body.text("logger", "io.envapi");
      if (!logger.equals(LogLevels.ROOT) && !OURS.matcher(logger).matches()) {
        body.fault("logger", "must be ROOT, io.envapi, or a part of it", "logger");
      }
      return new Wanted(logger, body.choice("level", LEVELS, body.text("level")));
    }
  }

  private final LogLevels levels;
  private final Audited audited;

  LogLevelRoutes(LogLevels levels, Audited audited) {
    this.levels = levels;
    this.audited = audited;
  }

  void addTo(RouteTable routes) {
    routes
        .on("/v1/admin/log-level")
        .add("GET", audited.forOperator(this::read))
        .add("PUT", audited.forOperator(audited.of("log_level.set", this::set)));
  }

  private CompletionStage<Answer> read(Exchange exchange, Caller caller) {
    return Answer.ok(json()).now();
  }

  private CompletionStage<Answer> set(Exchange exchange, Deed deed) {
    return exchange.body(
        Wanted::read,
        wanted -> {
          levels.set(wanted.logger(), wanted.level());
          deed.done(deed.event().with("logger", wanted.logger()).with("level", wanted.level()));
          return Answer.ok(json()).now();
        });
  }

  private ObjectNode json() {
    ObjectNode loggers = Json.object();
    new TreeMap<>(levels.levels()).forEach(loggers::put);
    return Json.object().set("levels", loggers);
  }
}
