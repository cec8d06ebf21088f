package io.envapi.sandbox;

import io.envapi.id.EnvironmentId;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What a shell is told before its first command: its limits, its variables and where it starts.
 *
 * <p>Only fixed variables go through the programs that confine the shell. Those run with the
 * service's privileges, and a variable such as {@code LD_PRELOAD} would make them run a caller's
 * code. The caller's own are exported by a file that {@code BASH_ENV} names, which bash reads when
 * it is confined already; so is the working directory entered, with the rights of the shell.
 */
final class Prelude {

  /**
   * The name of the script, where the prelude leaves the shell. Bash shows it as {@code
   * BASH_SOURCE}, and whoever asks for the directory of that gets the working directory.
   */
  static final String SCRIPT = "9";

  /** The descriptor the shell reads it from. */
  static final int DESCRIPTOR = 10;

  /** The descriptor the shell writes a byte to when it is through with it. */
  static final int READY = 11;

  /** What it writes there instead when its rights do not let it into the working directory. */
  static final char NO_DIRECTORY = '/';

  /** Variables that bash sets itself and does not take over from its environment. */
  private static final Set<String> BASH_OWN =
      Set.of("UID", "EUID", "PPID", "SHELLOPTS", "BASHOPTS", "BASH_VERSINFO", "IFS");

  /**
   * Ctrl-C reaches the shell too, and bash without job control ends itself when what it waited for
   * ended so, unless it has a trap. With one it would go on with the loop it is in.
   *
   * <p>It does go on with the rest of the line. That this is what an interrupt left, and not a
   * program that took it and ended otherwise, is told by a trap on RTMAX-1, until RTMAX takes that
   * away. To leave the line by {@code return} would be no better: bash then takes all that follows
   * for a part of the trap.
   */
  private static final String INTERRUPTED =
      """
      trap 'if [[ $? -eq 130 ||
        $(\\builtin type -t "${BASH_COMMAND%%[[:space:]]*}") == @(builtin|keyword|function) ]]
      then \\builtin trap : RTMAX-1
      else \\builtin trap - RTMAX-1
      fi 2>/dev/null
      \\builtin break 9999 2>/dev/null || \\builtin :' INT
      trap '\\builtin trap - RTMAX-1' RTMAX
      """;

  private Prelude() {}

  /** The variables a shell starts with; nothing of the service's own. */
  static Map<String, String> variables(EnvironmentId environment, String home, boolean terminal) {
    Map<String, String> variables = new LinkedHashMap<>();
    variables.put("PATH", Tools.PATH);
    variables.put("HOME", home);
    variables.put("LANG", "C.UTF-8");
    variables.put("TERM", terminal ? "xterm-256color" : "dumb");
    variables.put("PS1", "");
    variables.put("PS2", "");
    variables.put("HISTFILE", "");
    variables.put("ENVAPI_ENVIRONMENT_ID", environment.value());
    variables.put("BASH_ENV", "/dev/fd/" + DESCRIPTOR);
    return variables;
  }

  /**
   * @param limits commands that must succeed, or the shell ends
   * @param directory where the shell starts, absolute as the shell sees it
   * @param exported the caller's variables
   * @param terminal whether the shell has one
   */
  static byte[] text(
      List<String> limits, String directory, Map<String, String> exported, boolean terminal) {
    StringBuilder text = new StringBuilder("unset BASH_ENV\n{\n");
    limits.forEach(limit -> text.append(limit).append(" || exit 126\n"));
    text.append("umask 022\n");
    // Bash without a terminal as standard input does not take these over.
    text.append("export PS1= PS2=\n");
    exported.forEach(
        (name, value) -> {
          if (!BASH_OWN.contains(name)) {
            text.append("export ").append(name).append('=').append(quoted(value)).append('\n');
          }
        });
    // After the caller's PWD and OLDPWD.
    text.append("cd -- ").append(quoted(directory));
    text.append(" || { printf ").append(NO_DIRECTORY).append(" >&").append(READY);
    text.append("; exit 126; }\n");
    if (terminal) {
      text.append(INTERRUPTED);
    }
    text.append("printf . >&").append(READY);
    text.append("\nexec ").append(DESCRIPTOR).append("<&- ").append(READY).append(">&-\n");
    text.append("} 2>/dev/null\ncd /dev/fd\n");
    return text.toString().getBytes(StandardCharsets.UTF_8);
  }

  private static String quoted(String value) {
    return "'" + value.replace("'", "'\\''") + "'";
  }
}
