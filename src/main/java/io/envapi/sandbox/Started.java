package io.envapi.sandbox;

import io.envapi.linux.Child;
import io.envapi.process.Membership;
import io.envapi.process.ProcessIdentity;

/**
 * A shell that was started.
 *
 * @param child the process the service spawned and waits for
 * @param process its identity
 * @param shell the identity of the shell itself; differs where the tier puts a wrapper between
 * @param pgid the process group of {@code child}
 * @param members everything that runs in the shell, {@code child} and the shell included
 */
public record Started(
    Child child, ProcessIdentity process, ProcessIdentity shell, int pgid, Membership members) {}
