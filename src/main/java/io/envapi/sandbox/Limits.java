package io.envapi.sandbox;

/**
 * What one shell's processes may use.
 *
 * @param processes the number of processes and threads
 * @param memoryBytes memory
 * @param cpuSeconds CPU time of one process
 * @param fileSizeBytes the largest file one process may write
 */
public record Limits(long processes, long memoryBytes, long cpuSeconds, long fileSizeBytes) {}
