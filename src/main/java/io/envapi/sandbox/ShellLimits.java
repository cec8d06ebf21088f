package io.envapi.sandbox;

import io.envapi.linux.Rlimits;
import io.envapi.linux.Rlimits.Resource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The resource limits of a shell (getrlimit(2)), which it puts on itself before its first command:
 * the service may not limit another user's process without {@code CAP_SYS_RESOURCE}, and lowering
 * one's own takes no privilege.
 *
 * <p>Where a control group counts, the kernel's per-user count is left alone: it is shared by all
 * shells of a user. {@code RLIMIT_AS} is the last resort: programs that reserve address space
 * without using it (node, Go, the JVM) fail under it.
 */
final class ShellLimits {

  private static final long OPEN_FILES = 1024;
  private static final long OPEN_FILES_AT_MOST = 65_536;

  /** The unit of bash's {@code ulimit -f} and {@code -v}; a part of one counts as a whole. */
  private static final long UNIT = 1024;

  /** The kernel counts them in nanoseconds, which more of them overflow. */
  private static final long MOST_SECONDS = Duration.ofNanos(Long.MAX_VALUE).toSeconds();

  private ShellLimits() {}

  /**
   * Bash commands, each of which sets a limit or fails.
   *
   * @param others processes that count together with the shell's and are not its own
   */
  static List<String> commands(Limits limits, Cgroups cgroups, long others) {
    List<String> commands = new ArrayList<>();
    commands.addAll(set('c', Resource.CORE, 0, 0, 1));
    commands.addAll(fileSize(limits.fileSizeBytes()));
    // SIGXCPU first, SIGKILL a second later for a program that does not heed it.
    long seconds = Math.min(limits.cpuSeconds(), MOST_SECONDS);
    commands.addAll(set('t', Resource.CPU, seconds, seconds + 1, 1));
    commands.addAll(set('n', Resource.NOFILE, OPEN_FILES, OPEN_FILES_AT_MOST, 1));
    if (!cgroups.holdsProcesses()) {
      long processes = Math.min(limits.processes(), Cgroups.MOST_PROCESSES) + others;
      commands.addAll(set('u', Resource.NPROC, processes, processes, 1));
    }
    if (!cgroups.holdsMemory()) {
      commands.addAll(set('v', Resource.AS, limits.memoryBytes(), limits.memoryBytes(), UNIT));
    }
    return commands;
  }

  /** Exactly so many bytes, for which it takes prlimit(1) where they are no whole units of bash. */
  private static List<String> fileSize(long bytes) {
    List<String> whole = set('f', Resource.FSIZE, bytes, bytes, UNIT);
    return bytes % UNIT == 0 || bytes > inherited(Resource.FSIZE) / UNIT * UNIT
        ? whole
        : List.of(whole.getFirst(), whole.getLast(), "prlimit --pid $$ --fsize=" + bytes);
  }

  /** The service's own hard limit is inherited, and bounds what can be set without privilege. */
  private static List<String> set(char option, Resource resource, long soft, long hard, long unit) {
    long most = inherited(resource) / unit;
    long hardUnits = Math.min(Math.ceilDiv(hard, unit), most);
    long softUnits = Math.min(Math.ceilDiv(soft, unit), hardUnits);
    return List.of("ulimit -S" + option + " " + softUnits, "ulimit -H" + option + " " + hardUnits);
  }

  private static long inherited(Resource resource) {
    int self = Math.toIntExact(ProcessHandle.current().pid());
    long hard = Rlimits.get(self, resource).hard();
    return hard == Rlimits.INFINITY ? Long.MAX_VALUE : hard;
  }
}
