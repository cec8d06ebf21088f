package io.envapi.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import io.envapi.linux.Credentials;
import io.envapi.linux.Spawner;
import io.envapi.process.ProcessIdentity;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A host whose control groups the service may not use: limits are per process and per user. */
class WithoutCgroupsTest {

  private static final TestShell.Options DEFAULT = TestShell.Options.DEFAULT;
  private static final long MIB = 1 << 20;

  private static TestEnvironment environment(SandboxTier tier) {
    Tiers.sandbox(tier);
    SandboxSettings settings = Tiers.settings(tier);
    Spawner spawner = Spawner.plain();
    Host host =
        new Host(
            settings,
            Credentials.current(),
            spawner,
            Cgroups.none(),
            new Directories(settings.root(), spawner));
    Sandbox sandbox =
        switch (tier) {
          case DIRECTORY ->
              new DirectorySandbox(host, host.credentials().isRoot(), Optional.empty());
          case USER -> new UserSandbox(host, Optional.empty());
          case NAMESPACE ->
              new NamespaceSandbox(
                  host, Seccomp.filter(Seccomp.Place.INSIDE).orElseThrow(), Tiers.joiner(), false);
        };
    return new TestEnvironment(sandbox, settings);
  }

  @ParameterizedTest
  @EnumSource(SandboxTier.class)
  void theKernelCountsTheUsersProcesses(SandboxTier tier) {
    try (TestEnvironment environment = environment(tier);
        TestShell shell = environment.shell(DEFAULT.within(new Limits(20, 512 * MIB, 60, MIB)))) {
      assertThat(environment.sandbox().layers().cgroup()).isEqualTo("none");
      shell.send("exec 2>&1; bomb() { bomb | bomb & }; bomb");
      shell.until("Resource temporarily unavailable");
      shell.started().members().killAll();
      assertThat(shell.started().members().members()).isEmpty();
    }
  }

  @ParameterizedTest
  @EnumSource(SandboxTier.class)
  void addressSpaceIsLimitedInstead(SandboxTier tier) {
    try (TestEnvironment environment = environment(tier)) {
      var outcome =
          environment.run(
              DEFAULT.within(new Limits(50, 128 * MIB, 60, MIB)),
              "ulimit -v; head -c 300M /dev/zero | tail -n 1 >/dev/null; echo ${PIPESTATUS[1]}");
      assertThat(outcome.output()).startsWith("131072\n").endsWith("1\n");
    }
  }

  @Test
  void atTheUserTierEverythingOfTheUserGoesWithTheEnvironment() throws Exception {
    TestEnvironment environment = environment(SandboxTier.USER);
    try (TestShell shell = environment.shell()) {
      shell.send(
          "env -i setsid sh -c 'cd /; sleep 1000 & sleep 1001' >/dev/null 2>&1 & echo ready");
      shell.until("ready");
      org.awaitility.Awaitility.await()
          .until(() -> ProcessScan.ofUser(environment.workspace().uid()).size() >= 4);
      environment.close();
      shell.started().child().exit().get(10, TimeUnit.SECONDS);
    }
    org.awaitility.Awaitility.await()
        .untilAsserted(
            () -> assertThat(ProcessScan.ofUser(environment.workspace().uid())).isEmpty());
  }

  @Test
  void atTheUserTierLeftoversAreFoundByTheirUser() throws Exception {
    try (TestEnvironment environment = environment(SandboxTier.USER);
        TestShell shell = environment.shell()) {
      shell.send("(env -i setsid sleep 1000 >/dev/null 2>&1 &); echo ready").until("ready");
      ProcessIdentity recorded = shell.started().process();
      assertThat(environment.sandbox().reconcile(environment.id(), List.of(recorded)))
          .isGreaterThanOrEqualTo(2);
      org.awaitility.Awaitility.await()
          .untilAsserted(
              () -> assertThat(ProcessScan.ofUser(environment.workspace().uid())).isEmpty());
    }
  }

  @Test
  void atTheNamespaceTierDaemonsGoWithTheEnvironment() {
    Assumptions.assumeTrue(Credentials.current().isRoot(), "not root");
    TestEnvironment environment = environment(SandboxTier.NAMESPACE);
    try (TestShell shell = environment.shell()) {
      shell.send("(env -i setsid sleep 1000 >/dev/null 2>&1 &); echo ready").until("ready");
      environment.close();
    }
    org.awaitility.Awaitility.await()
        .untilAsserted(
            () -> assertThat(ProcessScan.ofUser(environment.workspace().uid())).isEmpty());
  }

  @ParameterizedTest
  @EnumSource(SandboxTier.class)
  void aLimitBeyondWhatAnyHostHasIsNone(SandboxTier tier) {
    try (TestEnvironment environment = environment(tier)) {
      for (long much : new long[] {Long.MAX_VALUE, 1L << 62}) {
        TestShell.Options options = DEFAULT.within(new Limits(much, much, much, much));
        assertThat(environment.run(options, "sh -c 'echo fine'").output())
            .as("%d", much)
            .isEqualTo("fine\n");
      }
    }
  }
}
