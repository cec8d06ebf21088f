package io.envapi.app;

import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.joran.JoranConfigurator;
import ch.qos.logback.core.joran.spi.JoranException;
import ch.qos.logback.core.status.Status;
import ch.qos.logback.core.status.StatusUtil;
import java.net.URL;
import org.slf4j.LoggerFactory;

/**
 * Puts {@link LogSettings} into force. {@code logback.xml} says what a line looks like and uses two
 * properties set here: {@code appender} ({@code json} or {@code console}) and {@code level}.
 */
public final class LogSetup {

  private LogSetup() {}

  /** For the whole process; called once, before anything is logged. */
  public static void apply(LogSettings settings) {
    var file = LogSetup.class.getResource("/logback.xml");
    if (file != null && LoggerFactory.getILoggerFactory() instanceof LoggerContext context) {
      apply(settings, context, file);
    }
  }

  static void apply(LogSettings settings, LoggerContext context, URL file) {
    context.reset();
    context.putProperty("appender", settings.json() ? "json" : "console");
    context.putProperty("level", settings.level());
    var configurator = new JoranConfigurator();
    configurator.setContext(context);
    try {
      configurator.doConfigure(file);
    } catch (JoranException e) {
      throw new IllegalStateException("the log configuration cannot be read", e);
    }
    if (new StatusUtil(context).getHighestLevel(0) >= Status.ERROR) {
      throw new IllegalStateException("the log configuration has errors");
    }
  }
}
