package io.envapi.sandbox;

import java.util.Locale;

/** How strongly an environment is confined, weakest first. */
public enum SandboxTier {
  /** A working directory and resource limits; not a boundary. */
  DIRECTORY,
  /** A system uid per environment, privileges dropped. */
  USER,
  /** A set of Linux namespaces per environment. */
  NAMESPACE;

  /** As it is written in settings and answers. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
