package io.envapi.sandbox;

import io.envapi.id.EnvironmentId;
import io.envapi.id.ShellId;
import io.envapi.linux.FileDescriptor;
import java.util.Map;
import java.util.Optional;

/**
 * A shell to be started.
 *
 * <p>The process gets {@code stdin} as descriptor 0, {@code output} as 1 and 2 and again as 8 (the
 * frames), {@code script} as 9 and {@code bulk} as 7 (large commands), or with a terminal the slave
 * of {@code terminal} as 1, 2 and 8 and as its controlling terminal. It runs {@code <shell>
 * --noprofile --norc} on its script in a session of its own, and inherits nothing else. The script
 * begins with {@link #FIRST_LINE}.
 *
 * @param cwd relative to the workspace, already resolved and checked, "." for its root
 * @param environment the caller's variables, put on top of the tier's own
 * @param network whether the environment may reach the network
 * @param preferred a shell to start instead of the deployment's, if it is installed and a bash
 */
public record Launch(
    EnvironmentId environmentId,
    ShellId shellId,
    Workspace workspace,
    String cwd,
    Map<String, String> environment,
    Limits limits,
    boolean network,
    FileDescriptor stdin,
    FileDescriptor script,
    FileDescriptor bulk,
    Optional<FileDescriptor> output,
    Optional<Terminal> terminal,
    Optional<String> preferred) {

  /** Where the shell has large commands, once it has run {@link #FIRST_LINE}. */
  public static final int BULK = 253;

  /** Where the shell writes frames, once it has run {@link #FIRST_LINE}. */
  public static final int FRAMES = 254;

  /**
   * Enters the working directory, which the prelude has left for the directory of the script, and
   * puts the descriptors where commands neither inherit nor need them: what a shell may name is 0
   * to 9, and from 10 on bash keeps copies of its own.
   *
   * <p>While a redirection of 8 or 7 is in force, 10 is the copy from which bash restores it,
   * closed on exec; and a copy of such a copy is closed on exec too. Not to be found in bash(1),
   * but in every version since 3.
   */
  public static final String FIRST_LINE =
      "cd -- \"$OLDPWD\" && unset OLDPWD || exit 126; BASH_ARGV0=bash; unset BASH_ARGV0;"
          + " { exec 254>&10; } 8>&-; { exec 253<&10; } 7<&-; exec 7<&- 8>&- 9<&-\n";
}
