package io.envapi.id;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A command, as {@code cmd_<environment hex>_<shell n>_<m>}: the m-th command of its shell. */
public record CommandId(@JsonValue String value) {

  private static final Pattern FORM =
      Pattern.compile("cmd_([0-9a-f]{12})_([1-9][0-9]{0,8})_([1-9][0-9]{0,8})");

  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public CommandId {
    if (!FORM.matcher(value).matches()) {
      throw new IllegalArgumentException("not a command id");
    }
  }

  public static CommandId of(ShellId shell, int number) {
    return new CommandId("cmd_" + shell.value().substring("sh_".length()) + "_" + number);
  }

  /** The id a caller wrote; empty when no command can have it. */
  public static Optional<CommandId> parse(String text) {
    return FORM.matcher(text).matches() ? Optional.of(new CommandId(text)) : Optional.empty();
  }

  public EnvironmentId environment() {
    return shell().environment();
  }

  public ShellId shell() {
    Matcher parts = parts();
    return new ShellId("sh_" + parts.group(1) + "_" + parts.group(2));
  }

  /** Its place among the shell's commands, from 1. */
  public int number() {
    return Integer.parseInt(parts().group(3));
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
