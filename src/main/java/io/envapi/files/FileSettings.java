package io.envapi.files;

import com.typesafe.config.Config;

/**
 * Bounds of the file routes, in bytes.
 *
 * @param maxReadBytes the most that one read returns
 * @param maxWriteBytes the largest file that can be written
 */
public record FileSettings(int maxReadBytes, int maxWriteBytes) {

  /** From the {@code envapi} section. */
  public static FileSettings from(Config envapi) {
    return new FileSettings(
        Math.toIntExact(envapi.getBytes("files.max-read-bytes")),
        Math.toIntExact(envapi.getBytes("files.max-write-bytes")));
  }
}
