package io.envapi.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import io.envapi.process.ProcessIdentity;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What a shell can do to its environment's neighbours, to the service and to the host. */
class IsolationTest {

  @TempDir Path outside;

  @ParameterizedTest
  @MethodSource("io.envapi.sandbox.Tiers#confined")
  void killingEverythingKillsItsOwnAlone(SandboxTier tier) {
    try (TestEnvironment environment = Tiers.environment(tier);
        TestEnvironment neighbour = Tiers.environment(tier);
        TestShell other = neighbour.shell();
        TestShell shell = environment.shell()) {
      other.send("echo ready").until("ready");
      shell.send("kill -9 -1; echo survived").until("survived");
      other.send("(echo unharmed)").until("unharmed");
      assertThat(environment.sandbox().holder(environment.id()).map(ProcessIdentity::isAlive))
          .isIn(java.util.Optional.empty(), java.util.Optional.of(true));
      assertThat(environment.output("echo again")).isEqualTo("again\n");
    }
  }

  @ParameterizedTest
  @MethodSource("io.envapi.sandbox.Tiers#confined")
  void othersProcessesCannotBeTouched(SandboxTier tier) {
    long service = ProcessHandle.current().pid();
    try (TestEnvironment environment = Tiers.environment(tier);
        TestEnvironment neighbour = Tiers.environment(tier);
        TestShell other = neighbour.shell()) {
      int target = other.started().shell().pid();
      String script =
          """
          for pid in %d %d; do
            kill -0 $pid 2>/dev/null && echo "signals $pid"
            cat /proc/$pid/environ >/dev/null 2>&1 && echo "reads the variables of $pid"
            { : </proc/$pid/mem; } 2>/dev/null && echo "opens the memory of $pid"
            ls /proc/$pid/root/ >/dev/null 2>&1 && echo "enters the root of $pid"
            ls /proc/$pid/fd/ >/dev/null 2>&1 && echo "lists the descriptors of $pid"
          done
          echo end
          """
              .formatted(target, service);
      assertThat(environment.output(script)).isEqualTo("end\n");
      assertThat(other.started().shell().isAlive()).isTrue();
    }
  }

  @ParameterizedTest
  @MethodSource("io.envapi.sandbox.Tiers#confined")
  void othersFilesCannotBeReached(SandboxTier tier) throws IOException {
    try (TestEnvironment environment = Tiers.environment(tier);
        TestEnvironment neighbour = Tiers.environment(tier)) {
      neighbour.output("echo secret >f; chmod 666 f; chmod 777 .");
      neighbour.sandbox().prepare(neighbour.id(), neighbour.workspace().uid());
      String script =
          """
          cat /etc/shadow 2>/dev/null
          for path in '%s' '%s' /root; do
            cat "$path" 2>/dev/null; ls "$path" >/dev/null 2>&1 && echo "lists $path"
          done
          ls '%s' 2>/dev/null && echo 'lists the logs'
          ls '%s' 2>/dev/null && echo 'lists the environments'
          ln '%s' h 2>/dev/null && echo 'links to it'
          ln /etc/shadow h2 2>/dev/null && echo 'links to shadow'
          echo end
          """
              .formatted(
                  neighbour.workspace().files().resolve("f"),
                  neighbour.workspace().files(),
                  environment.workspace().logs(),
                  environment.workspace().root().getParent(),
                  neighbour.workspace().files().resolve("f"));
      assertThat(environment.output(script)).isEqualTo("end\n");
      assertThat(Files.readString(neighbour.workspace().files().resolve("f")))
          .isEqualTo("secret\n");
    }
  }

  @ParameterizedTest
  @MethodSource("io.envapi.sandbox.Tiers#confined")
  void gainsNothingBySetuidPrograms(SandboxTier tier) {
    try (TestEnvironment environment = Tiers.environment(tier)) {
      String script =
          """
          cp /bin/bash sb && chmod 4755 sb && ./sb -p -c 'echo $UID $EUID'
          for program in su sudo mount ping; do
            command -v $program >/dev/null && [ -u "$(command -v $program)" ] && echo $program
          done >/dev/null
          su -c 'echo root' </dev/null 2>/dev/null
          grep -E '^(Cap(Inh|Prm|Eff|Amb)|NoNewPrivs|Seccomp):' /proc/self/status | tr -d '\\t'
          mknod k c 1 5 2>/dev/null && echo mknod
          """;
      int uid = environment.workspace().uid();
      String none = "0000000000000000";
      assertThat(environment.run(script).output())
          .isEqualTo(
              uid
                  + " "
                  + uid
                  + "\nCapInh:"
                  + none
                  + "\nCapPrm:"
                  + none
                  + "\nCapEff:"
                  + none
                  + "\nCapAmb:"
                  + none
                  + "\nNoNewPrivs:1\nSeccomp:2\n");
    }
  }

  @ParameterizedTest
  @MethodSource("io.envapi.sandbox.Tiers#confined")
  void theHostSeesTheEnvironmentsUser(SandboxTier tier) throws IOException {
    try (TestEnvironment environment = Tiers.environment(tier);
        TestShell shell = environment.shell()) {
      String status =
          Files.readString(Path.of("/proc/" + shell.started().shell().pid() + "/status"));
      int uid = environment.workspace().uid();
      assertThat(uid).isNotZero();
      assertThat(status).contains(("Uid:" + "\t%d".repeat(4)).formatted(uid, uid, uid, uid));
    }
  }

  /** Depth, names that are no text, unreadable directories, and links out of the workspace. */
  @ParameterizedTest
  @MethodSource("io.envapi.sandbox.Tiers#all")
  void nothingIsLeftAfterRemoval(SandboxTier tier) throws Exception {
    Path canary = Files.writeString(outside.resolve("canary"), "here");
    TestEnvironment environment = Tiers.environment(tier);
    try (TestShell shell = environment.shell()) {
      shell.send(
          """
          deep=$(printf 'd/%%.0s' {1..900})
          for i in 1 2 3; do mkdir -p $deep && cd -P $deep 2>/dev/null; done; cd ~
          touch "$(printf 'a\\nb')" $'\\xff\\xfe' -- -rf '*' ' '
          mkdir closed && touch closed/f && chmod 000 closed
          ln -s '%s' out; ln -s / slash; mkfifo pipe
          (setsid sleep 1000 >/dev/null 2>&1 &); sleep 1000 &
          chmod 000 .; echo done
          """
              .formatted(outside));
      shell.until("done");
      List<ProcessIdentity> members = shell.started().members().members();
      assertThat(members).hasSizeGreaterThanOrEqualTo(3);
      environment.close();
      shell.started().child().exit().get(10, TimeUnit.SECONDS);
      assertThat(members).noneMatch(ProcessIdentity::isAlive);
    }
    assertThat(environment.workspace().root()).doesNotExist();
    assertThat(canary).hasContent("here");
    assertThat(environment.sandbox().holder(environment.id())).isEmpty();
    assertThat(Tiers.host(tier).cgroups().existing(environment.id()).exists()).isFalse();
    assertThat(Files.readString(Path.of("/proc/self/mountinfo")))
        .doesNotContain(environment.id().value());
  }

  @ParameterizedTest
  @MethodSource("io.envapi.sandbox.Tiers#all")
  void wipingLeavesTheDirectories(SandboxTier tier) throws IOException {
    try (TestEnvironment environment = Tiers.environment(tier)) {
      environment.output("mkdir -p a/b; touch a/b/c .hidden; ln -s '" + outside + "' out");
      Files.writeString(environment.workspace().logs().resolve("log"), "x");
      Files.writeString(outside.resolve("canary"), "here");
      environment.sandbox().stop(environment.id());
      environment.sandbox().wipe(environment.workspace());
      assertThat(environment.workspace().files()).isEmptyDirectory();
      assertThat(environment.workspace().logs()).isEmptyDirectory();
      assertThat(outside.resolve("canary")).exists();
      assertThat(environment.output("touch again && ls")).isEqualTo("again\n");
    }
  }
}
