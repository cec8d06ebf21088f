package io.envapi.app;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import io.envapi.http.LogLevels;
import java.util.Map;
import java.util.stream.Collectors;
import org.slf4j.LoggerFactory;

/** The levels of Logback's loggers. */
final class LoggerLevels implements LogLevels {

  private final LoggerContext context;

  LoggerLevels(LoggerContext context) {
    this.context = context;
  }

  /** Of the process. */
  static LoggerLevels ofProcess() {
    return new LoggerLevels((LoggerContext) LoggerFactory.getILoggerFactory());
  }

  @Override
  public Map<String, String> levels() {
    return context.getLoggerList().stream()
        .filter(logger -> logger.getLevel() != null)
        .collect(Collectors.toMap(Logger::getName, logger -> logger.getLevel().levelStr));
  }

  @Override
  public void set(String logger, String level) {
    context.getLogger(logger).setLevel(Level.valueOf(level));
  }
}
