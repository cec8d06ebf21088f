package io.envapi.environment;

import io.envapi.account.EnvironmentSpec;
import io.envapi.id.AccountId;
import io.envapi.id.EnvironmentId;
import io.envapi.sandbox.SandboxTier;
import java.util.List;
import java.util.Optional;

/**
 * An environment as callers see it. Times are epoch ms.
 *
 * @param shells its shells, live or not, oldest first
 * @param diskBytes the last measured usage
 */
public record EnvironmentView(
    EnvironmentId id,
    AccountId account,
    EnvironmentSpec spec,
    State state,
    SandboxTier tier,
    long createdAt,
    long updatedAt,
    long lastActivityAt,
    Optional<Long> archivedAt,
    List<ShellRecord> shells,
    Optional<Long> diskBytes) {

  /** Whether an environment can be used. */
  public enum State {
    ACTIVE,
    ARCHIVED
  }

  public EnvironmentView {
    shells = List.copyOf(shells);
  }

  public long shellsRunning() {
    return shells.stream().filter(ShellRecord::isRunning).count();
  }
}
