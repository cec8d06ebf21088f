package io.envapi.shell;

import io.envapi.id.ShellId;
import io.envapi.process.ProcessIdentity;

/**
 * What stays true of a shell for ever.
 *
 * @param process the process the service spawned (host pid)
 * @param shell the shell itself; differs where the tier puts a wrapper between
 * @param cwd where it started, relative to the workspace
 * @param createdAt epoch ms
 */
public record ShellIdentity(
    ShellId id,
    ProcessIdentity process,
    ProcessIdentity shell,
    int pgid,
    String cwd,
    boolean pty,
    long createdAt) {}
