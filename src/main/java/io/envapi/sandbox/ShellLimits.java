package io.envapi.sandbox;

import io.envapi.linux.Rlimits;
import io.envapi.linux.Rlimits.Resource;
import java.util.ArrayList;
import java.util.List;

/**
 * The resource limits of a shell (getrlimit(2)), put on it by {@code prlimit} just before it
 * starts: the service itself may not limit another user's process without {@code CAP_SYS_RESOURCE}.
 *
 * <p>Where a control group counts, the kernel's per-user count is left alone: it is shared by all
 * shells of a user. {@code RLIMIT_AS} is the last resort: programs that reserve address space
 * without using it (node, Go, the JVM) fail under it.
 */
final class ShellLimits {

  private static final long OPEN_FILES = 1024;
  private static final long OPEN_FILES_AT_MOST = 65_536;

  private ShellLimits() {}

  /**
   * The command that sets the limits and goes on with what follows it.
   *
   * @param others processes that count together with the shell's and are not its own
   */
  static List<String> command(Limits limits, Cgroups cgroups, long others) {
    List<String> command = new ArrayList<>();
    command.add(Tools.require("prlimit"));
    command.add(option("core", Resource.CORE, 0, 0));
    command.add(option("fsize", Resource.FSIZE, limits.fileSizeBytes(), limits.fileSizeBytes()));
    // SIGXCPU first, SIGKILL a second later for a program that does not heed it.
    command.add(option("cpu", Resource.CPU, limits.cpuSeconds(), limits.cpuSeconds() + 1));
    command.add(option("nofile", Resource.NOFILE, OPEN_FILES, OPEN_FILES_AT_MOST));
    if (!cgroups.holdsProcesses()) {
      long processes = limits.processes() + others;
      command.add(option("nproc", Resource.NPROC, processes, processes));
    }
    if (!cgroups.holdsMemory()) {
      command.add(option("as", Resource.AS, limits.memoryBytes(), limits.memoryBytes()));
    }
    command.add("--");
    return command;
  }

  /** The service's own hard limit is inherited, and bounds what can be set without privilege. */
  private static String option(String name, Resource resource, long soft, long hard) {
    int self = Math.toIntExact(ProcessHandle.current().pid());
    long present = Rlimits.get(self, resource).hard();
    long bounded = present == Rlimits.INFINITY ? hard : Math.min(hard, present);
    return "--" + name + "=" + Math.min(soft, bounded) + ":" + bounded;
  }
}
