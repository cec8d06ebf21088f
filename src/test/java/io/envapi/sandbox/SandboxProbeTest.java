package io.envapi.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import io.envapi.linux.Credentials;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class SandboxProbeTest {

  private Path root;

  @BeforeEach
  void make() {
    root = Tiers.directory("probe");
  }

  @AfterEach
  void delete() {
    Tiers.delete(root);
  }

  private SandboxSettings settings(SandboxTier min, Optional<SandboxTier> forced) {
    return new SandboxSettings(
        root.resolve("data"), min, forced, Path.of("/bin/bash"), 61_000, 10, List.of(), true);
  }

  @Test
  void takesTheStrongestThatWorksAndSaysWhyNoStronger() {
    var outcome = SandboxProbe.probe(settings(SandboxTier.DIRECTORY, Optional.empty()));
    assertThat(outcome)
        .isInstanceOfSatisfying(
            SandboxProbe.Outcome.Chosen.class,
            chosen -> {
              SandboxTier tier = chosen.sandbox().tier();
              assertThat(chosen.unavailable().keySet())
                  .containsExactlyInAnyOrderElementsOf(
                      List.of(SandboxTier.values())
                          .subList(tier.ordinal() + 1, SandboxTier.values().length));
            });
  }

  @Test
  void leavesNothingInTheDataRoot() throws IOException {
    SandboxProbe.probe(settings(SandboxTier.DIRECTORY, Optional.empty()));
    assertThat(root.resolve("data/environments")).isEmptyDirectory();
  }

  @Test
  void aForcedTierIsTakenEvenIfAStrongerOneWorks() {
    var outcome =
        SandboxProbe.probe(settings(SandboxTier.DIRECTORY, Optional.of(SandboxTier.DIRECTORY)));
    assertThat(outcome)
        .isInstanceOfSatisfying(
            SandboxProbe.Outcome.Chosen.class,
            chosen -> assertThat(chosen.sandbox().tier()).isEqualTo(SandboxTier.DIRECTORY));
  }

  @Test
  void aTierBelowTheLeastIsRefused() {
    var outcome =
        SandboxProbe.probe(settings(SandboxTier.NAMESPACE, Optional.of(SandboxTier.DIRECTORY)));
    assertThat(outcome)
        .isEqualTo(
            new SandboxProbe.Outcome.Refused(
                "ENVAPI_MIN_SANDBOX_TIER is namespace, and a weaker tier is forced"));
  }

  @ParameterizedTest
  @EnumSource(SandboxTier.class)
  void aDataRootBelowAClosedDirectoryWillDo(SandboxTier tier) throws IOException {
    Assumptions.assumeTrue(Credentials.current().isRoot(), "not root");
    Tiers.sandbox(tier);
    Files.setPosixFilePermissions(root, PosixFilePermissions.fromString("rwx------"));
    Files.writeString(root.resolve("private"), "x");
    SandboxSettings settings = settings(SandboxTier.DIRECTORY, Optional.of(tier));
    var outcome = SandboxProbe.probe(settings);
    assertThat(outcome).isInstanceOf(SandboxProbe.Outcome.Chosen.class);
    Sandbox sandbox = ((SandboxProbe.Outcome.Chosen) outcome).sandbox();
    try (TestEnvironment environment = new TestEnvironment(sandbox, settings)) {
      assertThat(environment.workspace().uid()).isNotZero();
      String script = "echo x >f; cd ~ && ls; id -u; ls '%s' 2>/dev/null; true";
      assertThat(environment.output(script.formatted(root)))
          .startsWith("f\n" + environment.workspace().uid() + "\n")
          .doesNotContain("private");
      assertThat(environment.workspace().files().resolve("f")).hasContent("x\n");
      assertThat(Files.readString(Path.of("/proc/self/mountinfo"))).doesNotContain(root.toString());
    }
  }

  @Test
  void aTierAboveTheHostsMeansIsRefusedWithTheReason() {
    SandboxSettings noShell =
        new SandboxSettings(
            root.resolve("data"),
            SandboxTier.DIRECTORY,
            Optional.of(SandboxTier.DIRECTORY),
            Path.of("/bin/false"),
            61_000,
            10,
            List.of(),
            true);
    assertThat(SandboxProbe.probe(noShell))
        .isEqualTo(
            new SandboxProbe.Outcome.Refused(
                "ENVAPI_SANDBOX_TIER is directory, but directory:"
                    + " a shell could not be started in it"));
  }
}
