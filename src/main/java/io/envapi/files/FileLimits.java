package io.envapi.files;

/**
 * What an account may do with files.
 *
 * @param maxReadBytes the most one read returns, in bytes
 * @param maxWriteBytes the largest content written, edited, copied or moved, in bytes
 * @param maxDiskBytes what workspace and logs may hold together, in bytes
 */
public record FileLimits(long maxReadBytes, long maxWriteBytes, long maxDiskBytes) {}
