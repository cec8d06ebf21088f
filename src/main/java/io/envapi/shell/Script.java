package io.envapi.shell;

import io.envapi.sandbox.Launch;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * The shell code that carries a command to bash.
 *
 * <p>The caller's text is one literal of {@code eval}, so nothing in it can end the line early.
 */
final class Script {

  /**
   * Bash takes its script from the pipe one byte per system call. From this size on (bytes) a
   * command goes through the bulk file instead, which bash reads in blocks.
   */
  static final int BULK_FROM = 2048;

  private Script() {}

  /**
   * What runs {@code command}, to be followed by an epilogue of {@link Framing}.
   *
   * @param lastStatus what {@code $?} must be for the command
   * @param variables set for this command alone
   */
  static String line(String command, int lastStatus, Map<String, String> variables) {
    return start(lastStatus, variables) + literal(command) + "; ";
  }

  /**
   * As {@link #line}, for a command whose text is in the bulk file. A shell that has closed that
   * runs nothing, so the epilogue has to need it.
   */
  static String bulkLine(int lastStatus, Map<String, String> variables) {
    return start(lastStatus, variables) + "\"$(</dev/fd/" + Launch.BULK + ")\"; ";
  }

  /**
   * {@code command} for a subshell, so that {@code exit} ends the command and not the shell. What
   * bash says of a subshell that a signal ended, with this text in it, goes nowhere.
   */
  static String subshell(String command) {
    // 10 is where bash keeps the standard error that it will have again.
    return "{ (\\exec 2>&6 6>&- 10>&-; \\builtin eval -- "
        + literal(command)
        + "); } 6>&2 2>/dev/null";
  }

  static boolean isBulk(String command) {
    return command.length() > BULK_FROM / 4
        && command.getBytes(StandardCharsets.UTF_8).length >= BULK_FROM;
  }

  /** {@code text} as one word that the shell takes literally. */
  static String literal(String text) {
    return "'" + text.replace("'", "'\\''") + "'";
  }

  private static String start(int lastStatus, Map<String, String> variables) {
    StringBuilder line = new StringBuilder();
    if (lastStatus != 0) {
      // On the left of || the status is seen by eval, and set -e does not act on it.
      line.append("(\\builtin exit ").append(lastStatus).append(") || ");
    }
    variables.forEach(
        (name, value) -> line.append(name).append('=').append(literal(value)).append(' '));
    // Bash forgets the variables in front of `builtin eval` after the first command in its text;
    // `command` keeps them, and behind `builtin` no function of that name takes its place.
    return line.append(variables.isEmpty() ? "\\builtin eval -- " : "\\builtin command eval -- ")
        .toString();
  }
}
