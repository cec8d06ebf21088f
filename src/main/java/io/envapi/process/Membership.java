package io.envapi.process;

import java.util.List;

/**
 * Which processes belong to one shell. Exact where the kernel keeps the list (a cgroup), by
 * ancestry and session otherwise. Calls block on {@code /proc}.
 */
public interface Membership extends AutoCloseable {

  /** The members alive now, zombies left out, the shell itself included. */
  List<ProcessIdentity> members();

  /** Kills every member with SIGKILL, again until none is left. */
  void killAll();

  /** Whether the kernel killed a member for want of memory since this was last asked. */
  boolean outOfMemory();

  /** Releases what keeps the list; the members must be gone. */
  @Override
  void close();
}
