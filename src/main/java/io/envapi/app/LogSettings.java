package io.envapi.app;

import com.typesafe.config.Config;

/**
 * How the service logs.
 *
 * @param json one JSON object a line, else text for people
 * @param level the least important level that is written
 */
public record LogSettings(boolean json, String level) {

  /** From the {@code envapi} section. */
  public static LogSettings from(Config envapi) {
    return new LogSettings(envapi.getBoolean("log.json"), envapi.getString("log.level"));
  }
}
