package io.envapi.id;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Optional;
import java.util.regex.Pattern;

/** An environment, as {@code env_} and 12 hex digits. */
public record EnvironmentId(@JsonValue String value) {

  private static final Pattern FORM = Pattern.compile("env_[0-9a-f]{12}");
  private static final SecureRandom RANDOM = new SecureRandom();

  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public EnvironmentId {
    if (!FORM.matcher(value).matches()) {
      throw new IllegalArgumentException("not an environment id");
    }
  }

  public static EnvironmentId random() {
    byte[] bytes = new byte[6];
    RANDOM.nextBytes(bytes);
    return new EnvironmentId("env_" + HexFormat.of().formatHex(bytes));
  }

  /** The id a caller wrote; empty when no environment can have it. */
  public static Optional<EnvironmentId> parse(String text) {
    return FORM.matcher(text).matches() ? Optional.of(new EnvironmentId(text)) : Optional.empty();
  }

  /** The 12 hex digits. */
  public String hex() {
    return value.substring("env_".length());
  }

  @Override
  public String toString() {
    return value;
  }
}
