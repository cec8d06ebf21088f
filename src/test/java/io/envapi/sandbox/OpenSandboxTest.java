package io.envapi.sandbox;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OpenSandboxTest {

  @TempDir Path root;

  @Test
  void smoke() {
    SandboxSettings settings = new SandboxSettings(root, SandboxTier.DIRECTORY, Optional.empty(), Path.of("/bin/bash"), 61000, 100, List.of(), true);
    Host host = Host.of(settings);
    for (Sandbox sandbox : List.of(
      new NamespaceSandbox(host, Seccomp.filter().get(), Seccomp.joiningFilter().get(), false),
      new NamespaceSandbox(host, Seccomp.filter().get(), Seccomp.joiningFilter().get(), true))) {
      try (TestEnvironment env = new TestEnvironment(sandbox, settings)) {
        System.out.println(env.run("id; env; ls -l /proc/self/fd; pwd;  cat /proc/self/cgroup; grep -E 'Cap|NoNew|Secc' /proc/self/status; echo hi >/dev/stderr; umask; ps -ef; whoami; ls -la / /etc; ip a; df; cat /etc/hosts /etc/hostname; hostname; tr '\\0' ' ' < /proc/1/environ; ls -l /proc/1/fd; exit 3").output());
        System.out.println(env.run(TestShell.Options.DEFAULT.onTerminal().with(Map.of("A'B".substring(0,1), "x'y", "LD_PRELOAD","/nope")), "id -u; tty <&1; echo x >/dev/tty; ls -l $(tty <&1); ps -ej; env; kill -TERM $$"));
        long s = System.nanoTime();
        for (int i = 0; i < 20; i++) env.run("exit");
        System.out.println((System.nanoTime() - s) / 20_000_000.0 + " ms each");
      }
    }
  }
}
