package io.envapi.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import io.envapi.linux.ExitStatus;
import io.envapi.linux.Signal;
import io.envapi.process.ProcessIdentity;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What the namespace tier promises beyond the others. */
class NamespaceSandboxTest {

  private static final TestShell.Options DEFAULT = TestShell.Options.DEFAULT;

  private static TestEnvironment environment() {
    return Tiers.environment(SandboxTier.NAMESPACE);
  }

  @Test
  void nothingOfTheHostShows() {
    try (TestEnvironment environment = environment()) {
      String script =
          """
          for path in /root /home /sys /boot /srv /mnt /media /work /etc/shadow /etc/sudoers \
              /var/run /run/docker.sock /run/dbus /var/log '%s'; do
            [ -e "$path" ] && echo "$path shows"
          done
          ls -A /run /tmp
          tr '\\0' '\\n' </proc/1/environ | grep -v '^PWD=/workspace$'
          echo /*
          """
              .formatted(Tiers.settings(SandboxTier.NAMESPACE).root());
      assertThat(environment.output(script).replaceAll(" /(lib[0-9x]*|s?bin|opt)(?=[ \n])", ""))
          .isEqualTo("/run:\n\n/tmp:\n/bin /dev /etc /proc /run /tmp /usr /var /workspace\n");
    }
  }

  @Test
  void onlyItsOwnPlacesAreWritable() {
    try (TestEnvironment environment = environment()) {
      String script =
          """
          for directory in / /usr /usr/bin /etc /dev /run /var /var/tmp /opt /proc /proc/sys/kernel; do
            { : >"$directory/x"; } 2>/dev/null && echo "$directory is writable"
          done
          for file in /proc/sys/kernel/core_pattern /proc/sys/kernel/hostname /proc/sysrq-trigger \
              /etc/passwd /etc/resolv.conf /proc/sys/user/max_user_namespaces; do
            { echo x >"$file"; } 2>/dev/null && echo "$file is writable"
          done
          touch /workspace/f /tmp/f /dev/shm/f && ls /tmp
          """;
      assertThat(environment.output(script)).isEqualTo("f\n");
    }
  }

  @Test
  void devicesAreThoseOfAnyProgram() {
    try (TestEnvironment environment = environment()) {
      assertThat(environment.output("cd /dev; for d in *; do [ -c $d ] && echo $d; done"))
          .isEqualTo("full\nnull\nptmx\nrandom\ntty\nurandom\nzero\n");
    }
  }

  @Test
  void itsShellsShareProcessesAndTmpAndNobodyElses() {
    try (TestEnvironment environment = environment();
        TestShell first = environment.shell();
        TestShell second = environment.shell()) {
      first.send("echo shared >/tmp/f; sleep 1000 & echo ready").until("ready");
      second.send("cat /tmp/f; pgrep -x sleep >/dev/null && echo 'sees it'; echo end");
      assertThat(second.until("end")).isEqualTo("shared\nsees it\nend\n");
      second.send("cat /proc/[0-9]*/comm | sort | uniq -c | tr -s ' '; echo over");
      // Nothing but the holder, the shells and what they run.
      assertThat(second.until("over").replaceAll("(?s).*?end\n", ""))
          .matches("(?s)( [0-9]+ (bash|cat|sleep|sort|uniq|tr)\n)+over\n");
    }
    try (TestEnvironment other = environment()) {
      assertThat(other.output("ls -A /tmp; pgrep -x sleep; echo end")).isEqualTo("end\n");
    }
  }

  @Test
  void memoryFileSystemsAreBounded() {
    try (TestEnvironment environment = environment()) {
      assertThat(environment.output("df -B1 --output=size /tmp /dev/shm | tail -n 2"))
          .containsPattern("536870912\\s+134217728");
    }
  }

  @Test
  void itKnowsWhoItIs() {
    Tiers.assumeInstalled("git");
    try (TestEnvironment environment = environment()) {
      assertThat(environment.output("whoami; id -un; id -gn; echo ~; hostname"))
          .isEqualTo("user\nuser\nuser\n/workspace\nenv-" + environment.id().hex() + "\n");
      assertThat(
              environment.output(
                  "git init -q . && git config user.email a@b && git config user.name c"
                      + " && touch f && git add f && git commit -qm m && git log --format=%s"))
          .endsWith("m\n");
    }
  }

  @Test
  void withoutNetworkOnlyItsOwnLoopbackIsThere() throws IOException {
    try (ServerSocket canary = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
        TestEnvironment environment = environment()) {
      String connect = "(exec 3<>/dev/tcp/127.0.0.1/%d) 2>/dev/null && echo connected; echo end";
      assertThat(environment.output(connect.formatted(canary.getLocalPort()))).isEqualTo("end\n");
      assertThat(
              environment.output("cat /proc/net/dev | grep -c :; ls /etc/resolv.conf 2>&1; true"))
          .startsWith("1\n");
    }
  }

  @Test
  void shellsOfAnEnvironmentReachEachOtherByLoopback() {
    Tiers.assumeInstalled("python3");
    try (TestEnvironment environment = environment();
        TestShell server = environment.shell()) {
      server.send(
          "python3 -c 'import socket; s=socket.create_server((\"127.0.0.1\", 7777));"
              + " print(\"up\", flush=True); s.accept()[0].sendall(b\"hello\\n\")'");
      server.until("up");
      assertThat(environment.output("cat </dev/tcp/127.0.0.1/7777")).isEqualTo("hello\n");
    }
  }

  @Test
  void withNetworkTheHostsIsShared() throws IOException {
    try (ServerSocket canary = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
        TestEnvironment environment = environment()) {
      String connect = "(exec 3<>/dev/tcp/127.0.0.1/%d) && echo connected";
      assertThat(
              environment
                  .run(DEFAULT.networked(), connect.formatted(canary.getLocalPort()))
                  .output())
          .isEqualTo("connected\n");
    }
  }

  @Test
  void losingTheHolderEndsItsShellsAndIsTold() throws Exception {
    try (TestEnvironment environment = environment();
        TestShell shell = environment.shell()) {
      Sandbox sandbox = environment.sandbox();
      ProcessIdentity holder = sandbox.holder(environment.id()).orElseThrow();
      CompletableFuture<Void> lost = sandbox.lost(environment.id());
      shell.send("setsid sleep 1000 & echo ready").until("ready");
      assertThat(lost).isNotDone();
      assertThat(holder.signal(Signal.KILL)).isTrue();
      shell.exit();
      assertThat(sandbox.holder(environment.id())).isEmpty();
      lost.get(10, TimeUnit.SECONDS);
      assertThat(environment.output("echo again")).isEqualTo("again\n");
      assertThat(sandbox.holder(environment.id())).isPresent().get().isNotEqualTo(holder);
    }
  }

  @Test
  void stoppingIsNoLoss() throws Exception {
    try (TestEnvironment environment = environment();
        TestShell shell = environment.shell()) {
      CompletableFuture<Void> lost = environment.sandbox().lost(environment.id());
      environment.sandbox().stop(environment.id());
      assertThat(shell.exit()).isEqualTo(new ExitStatus.Signaled(9));
      assertThat(environment.sandbox().holder(environment.id())).isEmpty();
      assertThat(lost).isNotDone();
    }
  }

  @Test
  void theHolderIgnoresWhatItsProcessesSendIt() {
    try (TestEnvironment environment = environment()) {
      ProcessIdentity holder =
          environment.ok(
              environment
                  .sandbox()
                  .openTerminal(environment.id(), environment.workspace(), false)
                  .map(
                      terminal -> {
                        terminal.master().close();
                        return environment.sandbox().holder(environment.id()).orElseThrow();
                      }));
      environment.output(
          "for s in HUP INT QUIT TERM KILL STOP USR1 ABRT; do kill -$s 1; done; true");
      environment.output("head -c 100k /dev/zero >/proc/1/fd/0 2>/dev/null; true");
      assertThat(environment.output("echo alive")).isEqualTo("alive\n");
      assertThat(environment.sandbox().holder(environment.id())).contains(holder);
    }
  }

  @Test
  void orphansLeaveNoZombies() {
    try (TestEnvironment environment = environment()) {
      String script =
          """
          for ((i = 0; i < 200; i++)); do (setsid true &); done
          for ((i = 0; i < 100; i++)); do
            grep -q '^State:.*Z' /proc/[0-9]*/status 2>/dev/null || break
            sleep 0.05
          done
          grep -c '^State:.*Z' /proc/[0-9]*/status 2>/dev/null | grep -cv ':0'
          """;
      assertThat(environment.run(script).output()).isEqualTo("0\n");
    }
  }

  @Test
  void linksInTheWorkspaceCannotMisleadItsConstruction() throws IOException {
    Path canary = Tiers.directory("canary");
    try (TestEnvironment environment = environment()) {
      environment.output(
          "ln -s /oldroot" + canary + " a; ln -s ../../../../oldroot" + canary + " tmp; ln -s / b");
      environment.sandbox().stop(environment.id());
      environment.output("true");
      assertThat(canary).isEmptyDirectory();
    } finally {
      Tiers.delete(canary);
    }
  }
}
