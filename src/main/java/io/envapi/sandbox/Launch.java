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
 * --noprofile --norc /dev/fd/9} in a session of its own, and inherits nothing else.
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
    Optional<String> preferred) {}
