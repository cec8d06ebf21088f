package io.envapi.environment;

import io.envapi.sandbox.Limits;

/**
 * What an environment uses now. Sizes in bytes.
 *
 * @param limits in force for each of its processes
 */
public record UsageView(
    long workspaceBytes,
    long logsBytes,
    long maxDiskBytes,
    long shellsRunning,
    long maxShells,
    long processes,
    Limits limits) {}
