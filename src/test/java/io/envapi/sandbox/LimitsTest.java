package io.envapi.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import io.envapi.linux.ExitStatus;
import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Limits stop what exceeds them, and nothing else. */
class LimitsTest {

  private static final TestShell.Options DEFAULT = TestShell.Options.DEFAULT;
  private static final long MIB = 1 << 20;

  private static Limits limits(long processes, long memory, long cpu, long file) {
    return new Limits(processes, memory, cpu, file);
  }

  @ParameterizedTest
  @MethodSource("io.envapi.sandbox.Tiers#all")
  void aForkBombIsContainedAndEnds(SandboxTier tier) {
    try (TestEnvironment environment = Tiers.environment(tier);
        TestShell shell = environment.shell(DEFAULT.within(limits(40, 512 * MIB, 60, MIB)));
        TestShell other = environment.shell()) {
      Tiers.assumeCgroups("processes", Tiers.host(tier).cgroups().holdsProcesses());
      shell.send("exec 2>&1; bomb() { bomb | bomb & }; bomb");
      shell.until("Resource temporarily unavailable");
      // One more is the program that keeps a namespaced shell's place outside.
      assertThat(shell.started().members().members()).hasSizeLessThanOrEqualTo(41);
      other.send("echo unharmed; true; (true); echo still");
      other.until("still");
      long begun = System.nanoTime();
      shell.started().members().killAll();
      assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(20));
      assertThat(shell.started().members().members()).isEmpty();
      assertThat(shell.exit()).isEqualTo(new ExitStatus.Signaled(9));
    }
  }

  @ParameterizedTest
  @MethodSource("io.envapi.sandbox.Tiers#all")
  void aMemoryHogIsKilledAloneAndSaidToBe(SandboxTier tier) {
    try (TestEnvironment environment = Tiers.environment(tier);
        TestShell shell = environment.shell(DEFAULT.within(limits(40, 64 * MIB, 60, MIB)))) {
      Tiers.assumeCgroups("memory", Tiers.host(tier).cgroups().holdsMemory());
      assertThat(shell.started().members().outOfMemory()).isFalse();
      shell.send("head -c 200M /dev/zero | tail -n 1 | wc -c; echo \"${PIPESTATUS[1]}\"");
      assertThat(shell.until("137")).contains("137");
      assertThat(shell.started().members().outOfMemory()).isTrue();
      assertThat(shell.started().members().outOfMemory()).isFalse();
      shell.send("echo alive");
      shell.until("alive");
    }
  }

  @ParameterizedTest
  @MethodSource("io.envapi.sandbox.Tiers#all")
  void addressSpaceIsNotMemory(SandboxTier tier) {
    try (TestEnvironment environment = Tiers.environment(tier)) {
      Tiers.assumeCgroups("memory", Tiers.host(tier).cgroups().holdsMemory());
      assertThat(environment.output("ulimit -v")).isEqualTo("unlimited\n");
    }
  }

  @ParameterizedTest
  @MethodSource("io.envapi.sandbox.Tiers#all")
  void aFileGrowsNoLargerThanItMay(SandboxTier tier) {
    try (TestEnvironment environment = Tiers.environment(tier)) {
      var outcome =
          environment.run(
              DEFAULT.within(limits(40, 512 * MIB, 60, MIB)),
              "head -c 2M /dev/zero >big; echo $?; stat -c %s big; truncate -s 1T huge; echo $?");
      // 128 + SIGXFSZ, to head as to truncate.
      assertThat(outcome.output()).contains("153\n1048576\n").endsWith("153\n");
    }
  }

  @ParameterizedTest
  @MethodSource("io.envapi.sandbox.Tiers#all")
  void aFileIsLimitedToTheByte(SandboxTier tier) {
    try (TestEnvironment environment = Tiers.environment(tier)) {
      var outcome =
          environment.run(
              DEFAULT.within(limits(40, 512 * MIB, 60, 1500)),
              "head -c 4096 /dev/zero >big; stat -c %s big; ulimit -Hf");
      assertThat(outcome.output()).endsWith("1500\n1\n");
    }
  }

  @ParameterizedTest
  @MethodSource("io.envapi.sandbox.Tiers#all")
  void aProcessRunsNoLongerThanItMay(SandboxTier tier) {
    try (TestEnvironment environment = Tiers.environment(tier)) {
      var outcome =
          environment.run(
              DEFAULT.within(limits(40, 512 * MIB, 1, MIB)),
              "sh -c 'while :; do :; done'; echo $?; sh -c 'trap : XCPU; while :; do :; done'; echo $?");
      // 128 + SIGXCPU, and 128 + SIGKILL for the one that does not heed it.
      assertThat(outcome.output()).contains("152\n").endsWith("137\n");
    }
  }

  @ParameterizedTest
  @MethodSource("io.envapi.sandbox.Tiers#confined")
  void limitsCannotBeRaised(SandboxTier tier) {
    try (TestEnvironment environment = Tiers.environment(tier)) {
      String script =
          """
          ulimit -c
          for try in '-c unlimited' '-f unlimited' '-t unlimited' '-n 1048576'; do
            ulimit $try 2>/dev/null && echo "raised $try"
          done
          renice -n -20 $$ >/dev/null 2>&1 && echo reniced
          chrt -f 99 true 2>/dev/null && echo realtime
          echo end
          """;
      assertThat(environment.output(script)).isEqualTo("0\nend\n");
    }
  }

  @ParameterizedTest
  @MethodSource("io.envapi.sandbox.Tiers#all")
  void shellsOfAnEnvironmentDoNotShareTheirLimit(SandboxTier tier) {
    try (TestEnvironment environment = Tiers.environment(tier);
        TestShell first = environment.shell(DEFAULT.within(limits(12, 512 * MIB, 60, MIB)));
        TestShell second = environment.shell(DEFAULT.within(limits(12, 512 * MIB, 60, MIB)))) {
      Tiers.assumeCgroups("processes", Tiers.host(tier).cgroups().holdsProcesses());
      for (TestShell shell : java.util.List.of(first, second)) {
        shell.send(
            "for i in 1 2 3 4 5 6 7 8 9; do sleep 1000 & done; all=($(jobs -p)); echo all ${#all[@]}");
        shell.until("all 9");
      }
    }
  }

  @ParameterizedTest
  @MethodSource("io.envapi.sandbox.Tiers#all")
  void aLimitBeyondWhatAnyHostHasIsNone(SandboxTier tier) {
    try (TestEnvironment environment = Tiers.environment(tier)) {
      for (long much : new long[] {Long.MAX_VALUE, 1L << 62, 5_000_000}) {
        TestShell.Options options = DEFAULT.within(limits(much, much, much, much));
        assertThat(environment.run(options, "sh -c 'echo fine'").output())
            .as("%d", much)
            .isEqualTo("fine\n");
      }
    }
  }
}
