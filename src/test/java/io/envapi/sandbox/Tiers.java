package io.envapi.sandbox;

import io.envapi.linux.Spawn;
import io.envapi.linux.Spawner;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Named;

/** The tiers this host gives, each below a data root of its own that goes with the JVM. */
final class Tiers {

  private static final Map<SandboxTier, SandboxProbe.Outcome> PROBED =
      new EnumMap<>(SandboxTier.class);
  private static final Path PARENT = parent();

  private Tiers() {}

  static SandboxSettings settings(Path root, SandboxTier tier) {
    return new SandboxSettings(
        root,
        SandboxTier.DIRECTORY,
        Optional.of(tier),
        Path.of("/bin/bash"),
        61_000,
        500,
        List.of(),
        true);
  }

  static SandboxSettings settings(SandboxTier tier) {
    return settings(PARENT.resolve(tier.label()), tier);
  }

  /** A tier in which a shell is another user than the service, or a whole sandbox. */
  static Stream<Named<SandboxTier>> confined() {
    return given(SandboxTier.USER, SandboxTier.NAMESPACE);
  }

  static Stream<Named<SandboxTier>> all() {
    return given(SandboxTier.DIRECTORY, SandboxTier.USER, SandboxTier.NAMESPACE);
  }

  private static Stream<Named<SandboxTier>> given(SandboxTier... tiers) {
    return Stream.of(tiers).map(tier -> Named.of(tier.label(), tier));
  }

  /** A new environment; the test is skipped where the host does not give the tier. */
  static TestEnvironment environment(SandboxTier tier) {
    return new TestEnvironment(sandbox(tier), settings(tier));
  }

  static synchronized Sandbox sandbox(SandboxTier tier) {
    SandboxProbe.Outcome outcome =
        PROBED.computeIfAbsent(tier, t -> SandboxProbe.probe(settings(t)));
    return switch (outcome) {
      case SandboxProbe.Outcome.Chosen(var sandbox, var _) -> sandbox;
      case SandboxProbe.Outcome.Refused(var message) -> {
        Assumptions.abort(message);
        yield null;
      }
    };
  }

  /** As {@link SandboxProbe} would make it, with its parts. */
  static Host host(SandboxTier tier) {
    return Host.of(settings(tier));
  }

  static Spawner joiner() {
    return Spawner.confined(Seccomp.filter(Seccomp.Place.JOINING).orElseThrow());
  }

  static void assumeInstalled(String... programs) {
    List<String> missing = new ArrayList<>(Tools.missing(List.of(programs)));
    Assumptions.assumeTrue(missing.isEmpty(), "not installed: " + missing);
  }

  static void assumeCgroups(String what, boolean held) {
    Assumptions.assumeTrue(held, "no control group holds " + what);
  }

  static Path directory(String prefix) {
    try {
      Path made = Files.createTempDirectory(prefix);
      Files.setPosixFilePermissions(made, PosixFilePermissions.fromString("rwx--x--x"));
      return made;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Path parent() {
    Path made = directory("sandbox-tiers");
    Runtime.getRuntime().addShutdownHook(new Thread(() -> delete(made)));
    return made;
  }

  static void delete(Path directory) {
    List<String> command = List.of("/bin/rm", "-rf", "--", directory.toString());
    Spawner.plain().spawn(Spawn.of(command)).exit().join();
  }
}
