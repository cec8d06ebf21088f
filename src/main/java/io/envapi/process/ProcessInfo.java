package io.envapi.process;

import io.envapi.linux.Boot;
import java.util.Optional;

/**
 * A process as callers see it.
 *
 * @param state one letter, as in proc(5)
 * @param cpuSeconds CPU time, its own and not its children's, to the millisecond
 * @param elapsedSeconds since it started, to the millisecond
 * @param cmdline its arguments, or {@code [name]}
 */
public record ProcessInfo(
    int pid,
    int ppid,
    int pgid,
    String state,
    long rssBytes,
    double cpuSeconds,
    double elapsedSeconds,
    String cmdline) {

  /** The process as it is now; empty when there is none. */
  public static Optional<ProcessInfo> read(int pid) {
    return ProcFs.stat(pid)
        .flatMap(stat -> ProcFs.cmdline(pid).map(cmdline -> read(stat, cmdline)));
  }

  private static ProcessInfo read(ProcFs.Stat stat, String cmdline) {
    double ticks = Boot.ticksPerSecond();
    return new ProcessInfo(
        stat.pid(),
        stat.ppid(),
        stat.pgid(),
        String.valueOf(stat.state()),
        stat.rssPages() * Boot.pageSize(),
        milliseconds((stat.userTicks() + stat.systemTicks()) / ticks),
        milliseconds(Math.max(0, Boot.uptime().toNanos() / 1e9 - stat.startTicks() / ticks)),
        cmdline);
  }

  private static double milliseconds(double seconds) {
    return Math.round(seconds * 1000) / 1000.0;
  }
}
