package io.envapi.account;

import io.envapi.failure.Failure;
import java.util.Optional;

/** Whether a new environment is within its account's quotas. */
final class QuotaChecks {

  private QuotaChecks() {}

  /** The limits asked for, each against the quota of the same name. */
  static Optional<Failure> limits(EnvironmentSpec.LimitOverrides limits, Quotas quotas) {
    return limit("max_memory_bytes", limits.maxMemoryBytes(), quotas)
        .or(() -> limit("max_cpu_seconds", limits.maxCpuSeconds(), quotas))
        .or(() -> limit("max_file_size_bytes", limits.maxFileSizeBytes(), quotas))
        .or(() -> limit("max_processes_per_shell", limits.maxProcessesPerShell(), quotas));
  }

  /**
   * One more environment.
   *
   * @param inProfile how many there may be in its profile
   */
  static Optional<Failure> environments(
      AccountState state, String profile, long inProfile, Quotas quotas) {
    return count("max_environments_per_profile", state.counted(profile), inProfile)
        .or(
            () ->
                count(
                    "max_environments_per_account",
                    state.counted(),
                    quotas.maxEnvironmentsPerAccount()));
  }

  private static Optional<Failure> limit(String name, Optional<Long> asked, Quotas quotas) {
    long maximum = quotas.value(name).longValue();
    return asked
        .filter(value -> value > maximum)
        .map(value -> new Failure.QuotaExceeded(name, value, maximum));
  }

  private static Optional<Failure> count(String name, long current, long maximum) {
    return current >= maximum
        ? Optional.of(new Failure.QuotaExceeded(name, current, maximum))
        : Optional.empty();
  }
}
