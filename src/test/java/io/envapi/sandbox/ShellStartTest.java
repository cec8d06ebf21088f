package io.envapi.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import io.envapi.failure.Failure;
import io.envapi.failure.Result;
import io.envapi.linux.ExitStatus;
import io.envapi.linux.Pty;
import io.envapi.process.ProcessIdentity;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What every tier promises of a shell it starts. */
class ShellStartTest {

  private static final TestShell.Options DEFAULT = TestShell.Options.DEFAULT;

  @ParameterizedTest
  @MethodSource("io.envapi.sandbox.Tiers#all")
  void hasExactlyTheVariablesItShould(SandboxTier tier) {
    try (TestEnvironment environment = Tiers.environment(tier)) {
      String home =
          tier == SandboxTier.NAMESPACE ? "/workspace" : environment.workspace().files().toString();
      Map<String, String> seen = new TreeMap<>();
      for (String line : environment.output("env").split("\n", -1)) {
        if (!line.isEmpty()) {
          seen.put(line.substring(0, line.indexOf('=')), line.substring(line.indexOf('=') + 1));
        }
      }
      // Those that bash itself sets.
      seen.keySet().removeAll(List.of("_", "SHLVL", "PWD"));
      assertThat(seen)
          .isEqualTo(
              Map.of(
                  "PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                  "HOME", home,
                  "LANG", "C.UTF-8",
                  "TERM", "dumb",
                  "PS1", "",
                  "PS2", "",
                  "HISTFILE", "",
                  "ENVAPI_ENVIRONMENT_ID", environment.id().value()));
    }
  }

  @ParameterizedTest
  @MethodSource("io.envapi.sandbox.Tiers#all")
  void takesTheCallersVariablesAsTheyAre(SandboxTier tier) {
    String odd = "it's \"$HOME\" `id` \\ \n\t«ü»";
    Map<String, String> variables =
        Map.of("ODD", odd, "PATH", "/usr/bin:/bin", "BASH_ENV", "/nowhere", "UID", "7", "A1", "");
    try (TestEnvironment environment = Tiers.environment(tier)) {
      var outcome =
          environment.run(
              DEFAULT.with(variables),
              "printf '%s|%s|%s|%s' \"$ODD\" \"$PATH\" \"$BASH_ENV\" \"${A1-unset}\"");
      assertThat(outcome.output()).isEqualTo(odd + "|/usr/bin:/bin|/nowhere|");
    }
  }

  @ParameterizedTest
  @MethodSource("io.envapi.sandbox.Tiers#all")
  void startsInItsDirectoryWhateverTheCallerSaysOfIt(SandboxTier tier) {
    Map<String, String> odd =
        Map.of("PWD", "/usr", "OLDPWD", "/tmp", "CDPATH", "/usr:/", "POSIXLY_CORRECT", "1");
    try (TestEnvironment environment = Tiers.environment(tier)) {
      environment.output("mkdir lib");
      var outcome = environment.run(DEFAULT.in("lib").with(odd), "echo ${PWD#$HOME} $CDPATH");
      assertThat(outcome.output()).isEqualTo("/lib /usr:/\n");
    }
  }

  /**
   * {@code LD_PRELOAD} must not reach the programs that confine the shell: they have privileges.
   */
  @ParameterizedTest
  @MethodSource("io.envapi.sandbox.Tiers#all")
  void callersVariablesReachNoProgramOutside(SandboxTier tier) {
    try (TestEnvironment environment = Tiers.environment(tier)) {
      var variables = Map.of("LD_PRELOAD", "/nowhere/evil.so", "LD_LIBRARY_PATH", "/nowhere");
      var outcome = environment.run(DEFAULT.with(variables), "printf '%s' \"$LD_PRELOAD\"");
      assertThat(outcome.output()).isEqualTo("/nowhere/evil.so");
    }
  }

  @ParameterizedTest
  @MethodSource("io.envapi.sandbox.Tiers#all")
  void hasExactlyTheDescriptorsItShould(SandboxTier tier) {
    try (TestEnvironment environment = Tiers.environment(tier)) {
      // 255 is where bash keeps its script, closed in what it starts as the other two are.
      assertThat(environment.output("ls /proc/$$/fd").split("\n"))
          .containsExactlyInAnyOrder("0", "1", "2", "253", "254", "255");
      // 3 is the directory that is listed.
      assertThat(environment.output("ls /proc/self/fd")).isEqualTo("0\n1\n2\n3\n");
    }
  }

  @ParameterizedTest
  @MethodSource("io.envapi.sandbox.Tiers#all")
  void canOpenItsOwnStreamsByName(SandboxTier tier) {
    try (TestEnvironment environment = Tiers.environment(tier)) {
      assertThat(environment.output("echo out >/dev/stdout; echo err >/dev/stderr"))
          .isEqualTo("out\nerr\n");
    }
  }

  @ParameterizedTest
  @MethodSource("io.envapi.sandbox.Tiers#all")
  void reportsHowItEnded(SandboxTier tier) {
    try (TestEnvironment environment = Tiers.environment(tier)) {
      assertThat(environment.run("exit 0").status()).isEqualTo(new ExitStatus.Exited(0));
      assertThat(environment.run("exit 42").status()).isEqualTo(new ExitStatus.Exited(42));
      assertThat(environment.run("exit 255").status()).isEqualTo(new ExitStatus.Exited(255));
      assertThat(environment.run("kill -TERM $$").status()).isEqualTo(new ExitStatus.Signaled(15));
      assertThat(environment.run("kill -SEGV $$").status()).isEqualTo(new ExitStatus.Signaled(11));
      assertThat(environment.run("kill -KILL $$").status()).isEqualTo(new ExitStatus.Signaled(9));
    }
  }

  @ParameterizedTest
  @MethodSource("io.envapi.sandbox.Tiers#all")
  void startsInItsDirectory(SandboxTier tier) {
    try (TestEnvironment environment = Tiers.environment(tier)) {
      environment.output("mkdir -p 'sub dir/it'\\''s'");
      var outcome =
          environment.run(DEFAULT.in("sub dir/it's"), "echo \"${PWD#\"$HOME\"/}|${OLDPWD-none}\"");
      assertThat(outcome.output()).isEqualTo("sub dir/it's|none\n");
      assertThat(environment.output("[ \"$PWD\" = \"$HOME\" ] && pwd -P"))
          .isEqualTo(environment.output("pwd"));
    }
  }

  @ParameterizedTest
  @MethodSource("io.envapi.sandbox.Tiers#all")
  void startsInAWorkspaceThatItsOwnerClosed(SandboxTier tier) {
    try (TestEnvironment environment = Tiers.environment(tier)) {
      environment.output("mkdir closed; chmod 000 closed; chmod 015 .");
      assertThat(environment.output("touch f && stat -c %a . closed")).isEqualTo("715\n0\n");
    }
  }

  @ParameterizedTest
  @MethodSource("io.envapi.sandbox.Tiers#all")
  void saysWhichProcessesItHas(SandboxTier tier) {
    try (TestEnvironment environment = Tiers.environment(tier);
        TestShell shell = environment.shell()) {
      shell.send("sleep 1000 & (setsid sleep 1001 &) ; echo up");
      shell.until("up");
      Started started = shell.started();
      assertThat(started.child().pid()).isEqualTo(started.process().pid());
      assertThat(started.pgid()).isEqualTo(started.process().pid());
      assertThat(started.process().isAlive()).isTrue();
      org.awaitility.Awaitility.await()
          .untilAsserted(
              () ->
                  assertThat(started.members().members().stream().map(ShellStartTest::cmdline))
                      .contains("sleep 1000 ", "sleep 1001 "));
      assertThat(started.members().members()).contains(started.process(), started.shell());
      assertThat(cmdline(started.shell())).startsWith("/bin/bash --noprofile");
      List<ProcessIdentity> members = started.members().members();
      started.members().killAll();
      assertThat(members).noneMatch(ProcessIdentity::isAlive);
      assertThat(shell.exit()).isEqualTo(new ExitStatus.Signaled(9));
    }
  }

  private static String cmdline(ProcessIdentity process) {
    try {
      return Files.readString(Path.of("/proc/" + process.pid() + "/cmdline")).replace('\0', ' ');
    } catch (java.io.IOException e) {
      return "";
    }
  }

  @ParameterizedTest
  @MethodSource("io.envapi.sandbox.Tiers#all")
  void hasATerminalOfItsOwn(SandboxTier tier) {
    try (TestEnvironment environment = Tiers.environment(tier);
        TestShell shell = environment.shell(DEFAULT.onTerminal())) {
      Pty.setSize(shell.terminal().master(), 33, 77);
      shell.send("[ -t 1 ] && [ -t 2 ] && [ ! -t 0 ] && echo both");
      shell.send("stty size <&1; name=$(tty <&2); echo \"at $name\"; echo hi >\"$name\"");
      shell.send("echo mine >/dev/tty; echo $TERM; echo end");
      String seen = shell.until("end");
      assertThat(seen).contains("both\r\n", "33 77\r\n", "at /dev/pts/", "hi\r\n", "mine\r\n");
      assertThat(seen).contains("xterm-256color\r\n");
      assertThat(shell.finish()).isEqualTo(new ExitStatus.Exited(0));
    }
  }

  @ParameterizedTest
  @MethodSource("io.envapi.sandbox.Tiers#all")
  void theTerminalInterruptsTheCommandAlone(SandboxTier tier) {
    try (TestEnvironment environment = Tiers.environment(tier);
        TestShell shell = environment.shell(DEFAULT.onTerminal())) {
      shell.send("trap 'echo caught' INT; sh -c 'echo begun; exec sleep 1000'");
      shell.until("begun");
      shell.send("echo \"rc=$?\"");
      shell.type("\003");
      assertThat(shell.until("rc=")).contains("rc=130", "caught");
      shell.send("read -r line </dev/tty; echo \"got $line\"");
      shell.type("typed\n");
      shell.until("got typed");
    }
  }

  @ParameterizedTest
  @MethodSource("io.envapi.sandbox.Tiers#all")
  void anImpossibleStartLeavesNothing(SandboxTier tier) {
    Tiers.sandbox(tier);
    SandboxSettings settings = withShell(Tiers.settings(tier), "/bin/no-such-shell");
    Host host = Host.of(settings);
    Sandbox sandbox =
        switch (tier) {
          case DIRECTORY -> new DirectorySandbox(host, false, Optional.empty());
          case USER -> new UserSandbox(host, Optional.empty());
          case NAMESPACE ->
              new NamespaceSandbox(
                  host, Seccomp.filter(Seccomp.Place.INSIDE).orElseThrow(), Tiers.joiner(), false);
        };
    try (TestEnvironment environment = new TestEnvironment(sandbox, settings);
        TestShell shell = environment.shell()) {
      assertThat(shell.result())
          .isInstanceOfSatisfying(
              Result.Refused.class,
              refused -> assertThat(refused.failure()).isInstanceOf(Failure.SandboxFailed.class));
      assertThat(host.cgroups().existing(environment.id()).pids()).isEmpty();
      assertThat(sandbox.holder(environment.id())).isEmpty();
    }
  }

  private static SandboxSettings withShell(SandboxSettings like, String shell) {
    return new SandboxSettings(
        like.root(),
        like.minTier(),
        Optional.of(SandboxTier.DIRECTORY),
        Path.of(shell),
        like.uidBase(),
        like.uidCount(),
        like.extraReadOnlyPaths(),
        like.allowNetwork());
  }
}
