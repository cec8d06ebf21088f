package io.envapi.files;

/**
 * What an environment holds on the disk, in bytes: sizes as they appear, but no more than is
 * allocated for a large file with holes. Directories count nothing; a file with several names here
 * counts once.
 */
public record DiskUsage(long workspaceBytes, long logsBytes) {

  public long totalBytes() {
    return workspaceBytes + logsBytes;
  }
}
