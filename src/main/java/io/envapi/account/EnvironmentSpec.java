package io.envapi.account;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.envapi.CborSerializable;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a caller wants of a new environment, checked.
 *
 * @param credentials the services whose credentials its commands get, sorted
 * @param network whether it may reach the network
 * @param chosen what its owner's preferences say of it; empty where nobody was asked
 */
public record EnvironmentSpec(
    String profile,
    String name,
    Map<String, String> labels,
    List<String> credentials,
    boolean network,
    LimitOverrides limits,
    @JsonInclude(JsonInclude.Include.NON_ABSENT) Optional<Choices> chosen)
    implements CborSerializable {

  public EnvironmentSpec {
    labels = labels == null ? Map.of() : Map.copyOf(labels);
    credentials = credentials == null ? List.of() : List.copyOf(credentials);
    chosen = chosen == null ? Optional.empty() : chosen;
  }

  /** Without preferences. */
  public EnvironmentSpec(
      String profile,
      String name,
      Map<String, String> labels,
      List<String> credentials,
      boolean network,
      LimitOverrides limits) {
    this(profile, name, labels, credentials, network, limits, Optional.empty());
  }

  /** With a time for everything its owner could choose, none above the quotas. */
  EnvironmentSpec within(Quotas quotas) {
    return new EnvironmentSpec(
        profile,
        name,
        labels,
        credentials,
        network,
        limits,
        chosen.map(choices -> choices.within(quotas)));
  }

  public Choices choices() {
    return chosen.orElse(Choices.NONE);
  }

  /**
   * What a person chose. It can only narrow what the account may use.
   *
   * @param environmentIdleTtlSeconds before the environment is archived
   * @param shellIdleTtlSeconds before one of its shells is closed
   * @param environmentsPerProfile active ones, this one included
   * @param shell the shell to start where it is installed and a bash
   */
  public record Choices(
      Optional<Double> environmentIdleTtlSeconds,
      Optional<Double> shellIdleTtlSeconds,
      Optional<Long> environmentsPerProfile,
      Optional<String> shell) {

    public static final Choices NONE =
        new Choices(Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());

    private Choices within(Quotas quotas) {
      return new Choices(
          Optional.of(environmentIdleTtlSeconds(quotas)),
          Optional.of(shellIdleTtlSeconds(quotas)),
          environmentsPerProfile,
          shell);
    }

    /** What holds under {@code quotas}, which may have become less since. */
    public double environmentIdleTtlSeconds(Quotas quotas) {
      return lower(environmentIdleTtlSeconds, quotas.environmentIdleTtlSeconds());
    }

    /** What holds under {@code quotas}, which may have become less since. */
    public double shellIdleTtlSeconds(Quotas quotas) {
      return lower(shellIdleTtlSeconds, quotas.shellIdleTtlSeconds());
    }

    long environmentsPerProfile(Quotas quotas) {
      return Math.min(
          environmentsPerProfile.orElse(Long.MAX_VALUE), quotas.maxEnvironmentsPerProfile());
    }

    private static double lower(Optional<Double> chosen, double quota) {
      return Math.min(chosen.orElse(Double.MAX_VALUE), quota);
    }
  }

  /** The limits an environment has of its own; where empty, the account's quota holds. */
  public record LimitOverrides(
      Optional<Long> maxMemoryBytes,
      Optional<Long> maxCpuSeconds,
      Optional<Long> maxFileSizeBytes,
      Optional<Long> maxProcessesPerShell) {

    public static final LimitOverrides NONE =
        new LimitOverrides(Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());
  }
}
