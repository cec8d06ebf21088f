package io.envapi.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.classic.util.LogbackMDCAdapter;
import ch.qos.logback.core.ConsoleAppender;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LogSetupTest {

  private final LoggerContext context = new LoggerContext();

  @AfterEach
  void stop() {
    context.stop();
  }

  @Test
  void jsonHasTheIdsOfTheRequestAndNothingElseOfTheContext() throws Exception {
    var line =
        line(
            new LogSettings(true, "INFO"),
            "hello\nworld",
            Map.of("request_id", "r1", "account", "a1", "environment", "env_1", "other", "x"));
    var json =
        new ObjectMapper().enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION).readTree(line);
    assertThat(line).endsWith("\n").containsOnlyOnce("\n");
    assertThat(json.get("message").asText()).isEqualTo("hello\nworld");
    assertThat(json.get("level").asText()).isEqualTo("INFO");
    assertThat(json.get("request_id").asText()).isEqualTo("r1");
    assertThat(json.get("account").asText()).isEqualTo("a1");
    assertThat(json.get("environment").asText()).isEqualTo("env_1");
    assertThat(json.has("other")).isFalse();
    assertThat(json.has("appender")).isFalse();
  }

  @Test
  void aLineForPeopleHasTheIdsThereAreAndStaysOneLine() {
    var line =
        line(new LogSettings(false, "INFO"), "hello\nERROR forged", Map.of("request_id", "r1"));
    assertThat(line).endsWith("Some: hello | ERROR forged request_id=r1\n").containsOnlyOnce("\n");
    assertThat(line(new LogSettings(false, "INFO"), "plain", Map.of())).endsWith("Some: plain\n");
  }

  @Test
  void theLevelIsTheOneThatWasSet() {
    apply(new LogSettings(true, "WARN"));
    assertThat(root().getLevel()).isEqualTo(Level.WARN);
    apply(new LogSettings(false, "DEBUG"));
    assertThat(root().getLevel()).isEqualTo(Level.DEBUG);
  }

  @Test
  void logsGoToStandardError() {
    apply(new LogSettings(true, "INFO"));
    assertThat(appender("json").getTarget()).isEqualTo("System.err");
    apply(new LogSettings(false, "INFO"));
    assertThat(appender("console").getTarget()).isEqualTo("System.err");
    assertThat(root().getAppender("json")).isNull();
  }

  @Test
  void aConfigurationWithErrorsIsRefused(@TempDir Path directory) throws Exception {
    var file = directory.resolve("logback.xml");
    Files.writeString(
        file,
        "<configuration><appender name='a' class='no.Such'/><root><appender-ref ref='a'/></root></configuration>");
    assertThatThrownBy(
            () -> LogSetup.apply(new LogSettings(true, "INFO"), context, file.toUri().toURL()))
        .isInstanceOf(IllegalStateException.class);
  }

  private String line(LogSettings settings, String message, Map<String, String> mdc) {
    apply(settings);
    var logger = context.getLogger("io.envapi.app.Some");
    var event = new LoggingEvent("", logger, Level.INFO, message, null, null);
    event.setMDCPropertyMap(mdc);
    var encoder = appender(settings.json() ? "json" : "console").getEncoder();
    return new String(encoder.encode(event), StandardCharsets.UTF_8);
  }

  private void apply(LogSettings settings) {
    context.setMDCAdapter(new LogbackMDCAdapter());
    LogSetup.apply(settings, context, LogSetup.class.getResource("/logback.xml"));
  }

  private Logger root() {
    return context.getLogger(Logger.ROOT_LOGGER_NAME);
  }

  private ConsoleAppender<ILoggingEvent> appender(String name) {
    return (ConsoleAppender<ILoggingEvent>) root().getAppender(name);
  }
}
