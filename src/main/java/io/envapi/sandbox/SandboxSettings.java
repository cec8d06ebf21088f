package io.envapi.sandbox;

import com.typesafe.config.Config;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Where environments live and how they are confined.
 *
 * @param root the directory that holds everything durable; absolute and normalized
 * @param minTier the start fails on a host that cannot give it
 * @param forcedTier the tier to use; empty for the strongest that works
 * @param shellBinary an absolute path
 * @param uidBase the first of the system uids lent to environments
 * @param uidCount how many there are
 * @param extraReadOnlyPaths absolute paths of the host that sandboxes can read as well
 * @param allowNetwork whether any environment may reach the network
 */
public record SandboxSettings(
    Path root,
    SandboxTier minTier,
    Optional<SandboxTier> forcedTier,
    Path shellBinary,
    int uidBase,
    int uidCount,
    List<Path> extraReadOnlyPaths,
    boolean allowNetwork) {

  public SandboxSettings {
    extraReadOnlyPaths = List.copyOf(extraReadOnlyPaths);
  }

  /** From the {@code envapi} section. */
  public static SandboxSettings from(Config envapi) {
    var forced = envapi.getString("sandbox.tier");
    return new SandboxSettings(
        Path.of(envapi.getString("root")).toAbsolutePath().normalize(),
        tier(envapi.getString("sandbox.min-tier")),
        forced.isEmpty() ? Optional.empty() : Optional.of(tier(forced)),
        Path.of(envapi.getString("sandbox.shell-binary")).normalize(),
        envapi.getInt("sandbox.uid-base"),
        envapi.getInt("sandbox.uid-count"),
        envapi.getStringList("sandbox.extra-read-only-paths").stream()
            .map(path -> Path.of(path).normalize())
            .toList(),
        envapi.getBoolean("sandbox.allow-network"));
  }

  private static SandboxTier tier(String label) {
    return SandboxTier.valueOf(label.toUpperCase(Locale.ROOT));
  }
}
