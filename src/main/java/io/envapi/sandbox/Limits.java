package io.envapi.sandbox;

/**
 * What one shell's processes may use. More than the kernel can count is as much as it can.
 *
 * @param processes the number of processes and threads
 * @param memoryBytes memory
 * @param cpuSeconds CPU time of one process
 * @param fileSizeBytes the largest file one process may write
 */
public record Limits(long processes, long memoryBytes, long cpuSeconds, long fileSizeBytes) {

  /** PID_MAX_LIMIT, beyond which {@code pids.max} is refused, with room for what wraps a shell. */
  private static final long MOST_PROCESSES = 4_194_304 - 16;

  /** The last whole unit of 1024 bytes. */
  private static final long MOST_FILE = Long.MAX_VALUE - 1023;

  public Limits {
    processes = Math.min(processes, MOST_PROCESSES);
    cpuSeconds = Math.min(cpuSeconds, Integer.MAX_VALUE);
    fileSizeBytes = Math.min(fileSizeBytes, MOST_FILE);
  }
}
