package io.envapi.shell;

import com.typesafe.config.Config;
import java.time.Duration;

/**
 * How shells are read, closed and reaped.
 *
 * @param closeGrace from SIGTERM to SIGKILL when a shell is closed; may be zero
 * @param reaperInterval how often idle shells and environments are looked for
 * @param spares the most shells that wait on this host, started ahead; 0 for none
 * @param maxReadBytes the most output that one answer holds
 * @param maxLive the most shells of this host at once; 0 for any number
 */
public record ShellSettings(
    Duration closeGrace, Duration reaperInterval, int spares, int maxReadBytes, int maxLive) {

  /** From the {@code envapi} section. */
  public static ShellSettings from(Config envapi) {
    return new ShellSettings(
        envapi.getDuration("shell.close-grace"),
        envapi.getDuration("shell.reaper-interval"),
        envapi.getInt("shell.spares"),
        Math.toIntExact(envapi.getBytes("files.max-read-bytes")),
        envapi.getInt("shell.max-live"));
  }
}
