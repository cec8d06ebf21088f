package io.envapi.app;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigException;
import io.envapi.sandbox.SandboxTier;
import java.math.BigDecimal;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.BiPredicate;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A kind of value: how the text of a variable becomes a value of a HOCON file, and whether a value
 * at a path, wherever it came from, is one of this kind.
 *
 * @param expectation what a value must be, after "must be"
 * @param fromText the value a variable's text stands for, blanks around it removed; empty if none
 */
record SettingKind(
    String expectation,
    Function<String, Optional<Object>> fromText,
    BiPredicate<Config, String> accepts) {

  private static final Pattern DIGITS = Pattern.compile("\\d{1,18}");
  private static final Pattern DECIMAL = Pattern.compile("\\d{1,12}(\\.\\d{1,9})?");
  private static final Pattern PROFILE = Pattern.compile("[a-z0-9][a-z0-9_-]{0,63}");
  private static final Pattern TOKEN = Pattern.compile("[!-~]{32,}");
  private static final Pattern POSTGRESQL =
      Pattern.compile("jdbc:postgresql://(?!.*(user|password)=)[!-~&&[^@]]+");
  private static final Pattern HOST_AND_PORT =
      Pattern.compile("([A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.]+]):[1-9]\\d{0,4}");
  private static final long NANOS = 1_000_000_000L;

  /** Whether the value at the path is acceptable; a value of another type is not. */
  boolean holds(Config config, String path) {
    try {
      return accepts.test(config, path);
    } catch (ConfigException | InvalidPathException _) {
      return false;
    }
  }

  static SettingKind bool() {
    return new SettingKind(
        "true or false (or 1 or 0)",
        text ->
            switch (text.toLowerCase(Locale.ROOT)) {
              case "true", "1" -> Optional.of(true);
              case "false", "0" -> Optional.of(false);
              default -> Optional.empty();
            },
        (config, path) -> {
          config.getBoolean(path);
          return true;
        });
  }

  static SettingKind integer(long least, long most) {
    return new SettingKind(
        "an integer from %d to %d".formatted(least, most),
        SettingKind::digits,
        (config, path) -> within(config.getLong(path), least, most));
  }

  static SettingKind positive() {
    return bytes(Long.MAX_VALUE);
  }

  /** A number of bytes, or of anything else where {@code most} is not given. */
  static SettingKind bytes(long most) {
    return bytes(1, most);
  }

  static SettingKind bytes(long least, long most) {
    return new SettingKind(
        most == Long.MAX_VALUE
            ? "a positive integer"
            : "an integer from %d to %d".formatted(least, most),
        SettingKind::digits,
        (config, path) -> within(config.getBytes(path), least, most));
  }

  /** A duration; a variable gives it in seconds, which may have a fraction. */
  static SettingKind seconds(boolean zeroAllowed, long mostSeconds) {
    return new SettingKind(
        "a number of seconds, %s and at most %d"
            .formatted(zeroAllowed ? "not negative" : "more than 0", mostSeconds),
        text -> decimal(text).map(number -> toNanos(number) + "ns"),
        (config, path) -> {
          var value = config.getDuration(path);
          return !value.isNegative()
              && (zeroAllowed || !value.isZero())
              && value.compareTo(Duration.ofSeconds(mostSeconds)) <= 0;
        });
  }

  /** A plain positive number; it may have a fraction. */
  static SettingKind positiveNumber() {
    return new SettingKind(
        "a positive number",
        text -> decimal(text).map(number -> number),
        (config, path) -> config.getDouble(path) > 0 && Double.isFinite(config.getDouble(path)));
  }

  static SettingKind text(String expectation, Predicate<String> accepts) {
    return new SettingKind(
        expectation,
        Optional::of,
        (config, path) -> {
          var value = config.getString(path);
          return value.equals(value.strip()) && accepts.test(value);
        });
  }

  static SettingKind text() {
    return text("text that is not empty", value -> !value.isEmpty());
  }

  /** A secret that goes into a header as it is. */
  static SettingKind token() {
    return text(
        "empty, or 32 characters or more without blanks",
        token -> token.isEmpty() || TOKEN.matcher(token).matches());
  }

  static SettingKind serviceName() {
    return text("a name without a dot", name -> !name.isEmpty() && !name.contains("."));
  }

  static SettingKind profile() {
    return text("a profile name", PROFILE.asMatchPredicate());
  }

  static SettingKind url() {
    return text("an http or https URL of a host and a path", SettingKind::isHttpUrl);
  }

  static SettingKind optionalUrl() {
    return text(
        "an http or https URL of a host and a path, or empty",
        url -> url.isEmpty() || isHttpUrl(url));
  }

  static SettingKind optionalText() {
    return text("text without blanks around it", value -> true);
  }

  static SettingKind postgresqlUrl() {
    return text(
        "empty, or a jdbc:postgresql:// URL without a user and a password",
        url -> url.isEmpty() || POSTGRESQL.matcher(url).matches());
  }

  static SettingKind directory() {
    return text("a directory other than /", SettingKind::isOrdinaryDirectory);
  }

  static SettingKind absolutePath() {
    return text("an absolute path", path -> Path.of(path).isAbsolute());
  }

  static SettingKind tier(boolean optional) {
    var labels = Stream.of(SandboxTier.values()).map(SandboxTier::label).toList();
    return new SettingKind(
        "one of " + String.join(", ", labels) + (optional ? ", or empty" : ""),
        text -> Optional.of(text.toLowerCase(Locale.ROOT)),
        (config, path) -> {
          var value = config.getString(path);
          return labels.contains(value) || (optional && value.isEmpty());
        });
  }

  /** A level's name, in any case; Python's names are understood too. */
  static SettingKind logLevel() {
    var levels = List.of("TRACE", "DEBUG", "INFO", "WARN", "ERROR");
    return new SettingKind(
        "one of " + String.join(", ", levels),
        text ->
            Optional.of(
                switch (text.toUpperCase(Locale.ROOT)) {
                  case "WARNING" -> "WARN";
                  case "CRITICAL" -> "ERROR";
                  case String level -> level;
                }),
        (config, path) -> levels.contains(config.getString(path)));
  }

  static SettingKind list(String separator, String expectation, Predicate<String> accepts) {
    return new SettingKind(
        expectation,
        text ->
            Optional.of(
                text.isEmpty()
                    ? List.of()
                    : Arrays.stream(text.split(Pattern.quote(separator), -1))
                        .map(String::strip)
                        .collect(Collectors.toList())),
        (config, path) ->
            config.getStringList(path).stream()
                .allMatch(
                    item -> !item.isEmpty() && item.equals(item.strip()) && accepts.test(item)));
  }

  /** Addresses of other hosts of the cluster. */
  static SettingKind hostsAndPorts() {
    return list(",", "a list of host:port", address -> HOST_AND_PORT.matcher(address).matches());
  }

  private static Optional<Object> digits(String text) {
    return DIGITS.matcher(text).matches() ? Optional.of(Long.valueOf(text)) : Optional.empty();
  }

  private static Optional<BigDecimal> decimal(String text) {
    return DECIMAL.matcher(text).matches() ? Optional.of(new BigDecimal(text)) : Optional.empty();
  }

  private static String toNanos(BigDecimal seconds) {
    return seconds.multiply(BigDecimal.valueOf(NANOS)).toBigInteger().toString();
  }

  private static boolean within(long value, long least, long most) {
    return value >= least && value <= most;
  }

  private static boolean isHttpUrl(String text) {
    try {
      var url = new URI(text);
      return ("http".equals(url.getScheme()) || "https".equals(url.getScheme()))
          && url.getHost() != null
          && url.getUserInfo() == null
          && url.getQuery() == null
          && url.getFragment() == null;
    } catch (URISyntaxException _) {
      return false;
    }
  }

  private static boolean isOrdinaryDirectory(String text) {
    return !text.isEmpty() && Path.of(text).toAbsolutePath().normalize().getNameCount() > 0;
  }
}
