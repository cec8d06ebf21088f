package io.envapi.id;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A shell, as {@code sh_<environment hex>_<n>}: the n-th shell opened in its environment. */
public record ShellId(@JsonValue String value) {

  private static final Pattern FORM = Pattern.compile("sh_([0-9a-f]{12})_([1-9][0-9]{0,8})");

  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public ShellId {
    if (!FORM.matcher(value).matches()) {
      throw new IllegalArgumentException("not a shell id");
    }
  }

  public static ShellId of(EnvironmentId environment, int number) {
    return new ShellId("sh_" + environment.hex() + "_" + number);
  }

  /** The id a caller wrote; empty when no shell can have it. */
  public static Optional<ShellId> parse(String text) {
    return FORM.matcher(text).matches() ? Optional.of(new ShellId(text)) : Optional.empty();
  }

  public EnvironmentId environment() {
    return new EnvironmentId("env_" + parts().group(1));
  }

  /** Its place among the environment's shells, from 1. */
  public int number() {
    return Integer.parseInt(parts().group(2));
  }

  private Matcher parts() {
    Matcher matcher = FORM.matcher(value);
    if (!matcher.matches()) {
      throw new IllegalStateException(value);
    }
    return matcher;
  }

  @Override
  public String toString() {
    return value;
  }
}
