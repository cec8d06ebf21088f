package io.envapi.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import io.envapi.linux.Child;
import io.envapi.linux.Signal;
import io.envapi.linux.Spawn;
import io.envapi.linux.Spawner;
import io.envapi.process.ProcessIdentity;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What an earlier run of the service left behind is found and ended, and nothing else. */
class ReconcileTest {

  private static Sandbox anotherRun(SandboxTier tier) {
    Tiers.sandbox(tier);
    return ((SandboxProbe.Outcome.Chosen) SandboxProbe.probe(Tiers.settings(tier))).sandbox();
  }

  @ParameterizedTest
  @MethodSource("io.envapi.sandbox.Tiers#all")
  void leftoversAreKilledDaemonsIncluded(SandboxTier tier) throws Exception {
    try (TestEnvironment environment = Tiers.environment(tier);
        TestShell shell = environment.shell()) {
      shell.send("(env -i setsid sleep 1000 >/dev/null 2>&1 &); sleep 1000 & echo ready");
      shell.until("ready");
      List<ProcessIdentity> members = shell.started().members().members();
      assertThat(members).hasSizeGreaterThanOrEqualTo(3);
      Sandbox next = anotherRun(tier);
      int killed = next.reconcile(environment.id(), List.of(shell.started().process()));
      assertThat(killed).isGreaterThanOrEqualTo(members.size());
      shell.started().child().exit().get(10, TimeUnit.SECONDS);
      assertThat(members).noneMatch(ProcessIdentity::isAlive);
      assertThat(next.reconcile(environment.id(), List.of(shell.started().process()))).isZero();
    }
  }

  @ParameterizedTest
  @MethodSource("io.envapi.sandbox.Tiers#all")
  void aProcessThatGotTheNumberSinceIsLeftAlone(SandboxTier tier) {
    Child stranger = Spawner.plain().spawn(Spawn.of(List.of("/bin/sleep", "1000")));
    try (TestEnvironment environment = Tiers.environment(tier)) {
      ProcessIdentity real = ProcessIdentity.of(stranger.pid()).orElseThrow();
      List<ProcessIdentity> recorded =
          List.of(
              new ProcessIdentity(real.pid(), real.startTicks() - 1, real.bootId()),
              new ProcessIdentity(real.pid(), real.startTicks(), "another boot"));
      assertThat(environment.sandbox().reconcile(environment.id(), recorded)).isZero();
      assertThat(stranger.isAlive()).isTrue();
    } finally {
      stranger.signal(Signal.KILL);
    }
  }

  @Test
  void aHolderLeftBehindTakesItsProcessesAlong() throws Exception {
    try (TestEnvironment environment = Tiers.environment(SandboxTier.NAMESPACE);
        TestShell shell = environment.shell()) {
      shell.send("setsid sleep 1000 & echo ready").until("ready");
      ProcessIdentity holder = environment.sandbox().holder(environment.id()).orElseThrow();
      Sandbox next = anotherRun(SandboxTier.NAMESPACE);
      assertThat(next.reconcile(environment.id(), List.of(holder))).isPositive();
      assertThat(holder.isAlive()).isFalse();
      shell.started().child().exit().get(10, TimeUnit.SECONDS);
    }
  }
}
