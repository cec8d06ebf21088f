package io.envapi.preferences;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.Optional;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A person's settings for one profile as the settings service gave them, each brought within its
 * bounds. A value that cannot be used counts as not chosen; the log names its key and never shows
 * it.
 */
record Document(
    Optional<String> defaultProfile,
    Optional<Double> environmentIdleTtlSeconds,
    Optional<Double> shellIdleTtlSeconds,
    Optional<Long> environmentsPerProfile,
    Optional<String> shell) {

  /** A week. */
  static final double MOST_ENVIRONMENT_IDLE_SECONDS = 7 * 86_400;

  /** A day. */
  static final double MOST_SHELL_IDLE_SECONDS = 86_400;

  /** What is used a minute apart is in use. */
  static final double LEAST_IDLE_SECONDS = 60;

  private static final Logger LOG = LoggerFactory.getLogger(Document.class);
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Pattern PROFILE = Pattern.compile("[a-z0-9][a-z0-9_-]{0,63}");
  private static final int MAX_SHELL_CHARS = 255;
  private static final double HOUR = 3600;
  private static final double MINUTE = 60;

  /**
   * Reads {@code {"settings": {...}}}.
   *
   * @throws IOException when it is not that
   */
  static Document read(byte[] body) throws IOException {
    JsonNode settings = JSON.readTree(body).path("settings");
    if (!settings.isObject()) {
      throw new IOException("no settings in it");
    }
    return new Document(
        text(settings, "default_profile", PROFILE),
        ttl(settings, "environment_idle_ttl_seconds", 1, MOST_ENVIRONMENT_IDLE_SECONDS)
            .or(() -> ttl(settings, "idle_environment_hours", HOUR, MOST_ENVIRONMENT_IDLE_SECONDS)),
        ttl(settings, "shell_idle_ttl_seconds", 1, MOST_SHELL_IDLE_SECONDS)
            .or(() -> ttl(settings, "idle_shell_minutes", MINUTE, MOST_SHELL_IDLE_SECONDS)),
        count(settings, "max_environments_per_profile"),
        text(settings, "default_shell", Pattern.compile("[!-~]{1," + MAX_SHELL_CHARS + "}")));
  }

  Chosen chosen(String profile) {
    return new Chosen(
        true,
        profile,
        environmentIdleTtlSeconds,
        shellIdleTtlSeconds,
        environmentsPerProfile,
        shell);
  }

  private static Optional<Double> ttl(JsonNode settings, String key, double unit, double most) {
    JsonNode value = settings.path(key);
    boolean usable = value.isNumber() && value.doubleValue() > 0;
    return usable
        ? Optional.of(Math.clamp(value.doubleValue() * unit, LEAST_IDLE_SECONDS, most))
        : unusable(key, value);
  }

  private static Optional<Long> count(JsonNode settings, String key) {
    JsonNode value = settings.path(key);
    boolean usable = value.isIntegralNumber() && value.canConvertToLong() && value.longValue() > 0;
    return usable ? Optional.of(value.longValue()) : unusable(key, value);
  }

  private static Optional<String> text(JsonNode settings, String key, Pattern form) {
    JsonNode value = settings.path(key);
    boolean usable = value.isTextual() && form.matcher(value.textValue()).matches();
    return usable ? Optional.of(value.textValue()) : unusable(key, value);
  }

  private static <T> Optional<T> unusable(String key, JsonNode value) {
    if (!value.isMissingNode() && !value.isNull()) {
      LOG.warn("a person's {} cannot be used and counts as not chosen", key);
    }
    return Optional.empty();
  }
}
