package io.envapi.audit;

import com.typesafe.config.Config;
import java.time.Duration;

/**
 * How much of the past is kept.
 *
 * @param retention a line is kept for as long, unless there are too many
 * @param maxBytes of all files together, but for a line
 */
public record AuditSettings(Duration retention, long maxBytes) {

  /** From the {@code envapi} section. */
  public static AuditSettings from(Config envapi) {
    return new AuditSettings(
        envapi.getDuration("audit.retention"), envapi.getBytes("audit.max-bytes"));
  }
}
