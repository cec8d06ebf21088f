package io.envapi.sandbox;

import java.util.Optional;
import java.util.OptionalInt;

/**
 * The {@code directory} tier: a working directory, a minimal environment and resource limits.
 *
 * <p>Not a boundary: shells can reach each other's files and processes. Where the service is root,
 * they all become one user that is not the service's, so that they cannot reach the service.
 */
public final class DirectorySandbox extends OpenSandbox {

  private final boolean shared;

  /**
   * @param shared whether shells become the one user that is not the service's
   */
  DirectorySandbox(Host host, boolean shared, Optional<ReachableRoot> reachable) {
    super(host, reachable);
    this.shared = shared;
  }

  @Override
  public SandboxTier tier() {
    return SandboxTier.DIRECTORY;
  }

  @Override
  OptionalInt owner(int uid) {
    return shared ? OptionalInt.of(host().sharedUid()) : OptionalInt.empty();
  }
}
