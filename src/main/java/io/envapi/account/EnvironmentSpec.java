package io.envapi.account;

import io.envapi.CborSerializable;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a caller wants of a new environment, checked.
 *
 * @param credentials the services whose credentials its commands get, sorted
 * @param network whether it may reach the network
 */
public record EnvironmentSpec(
    String profile,
    String name,
    Map<String, String> labels,
    List<String> credentials,
    boolean network,
    LimitOverrides limits)
    implements CborSerializable {

  public EnvironmentSpec {
    labels = labels == null ? Map.of() : Map.copyOf(labels);
    credentials = credentials == null ? List.of() : List.copyOf(credentials);
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
