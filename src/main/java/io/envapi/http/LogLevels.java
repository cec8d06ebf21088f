package io.envapi.http;

import java.util.Map;

/** How much the parts of the service log, which can be changed while it runs. */
public interface LogLevels {

  /** The logger above all others. */
  String ROOT = "ROOT";

  /** The loggers that have a level of their own; {@link #ROOT} is one. */
  Map<String, String> levels();

  /**
   * @param logger {@link #ROOT}, or a package or class
   * @param level TRACE, DEBUG, INFO, WARN or ERROR
   */
  void set(String logger, String level);
}
