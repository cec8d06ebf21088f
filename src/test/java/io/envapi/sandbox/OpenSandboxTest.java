package io.envapi.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import io.envapi.linux.ExitStatus;
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
    for (Sandbox sandbox : List.of(new DirectorySandbox(host, false), new DirectorySandbox(host, true), new UserSandbox(host))) {
      try (TestEnvironment env = new TestEnvironment(sandbox, settings)) {
        System.out.println(env.run("id; env; ls -l /proc/self/fd; pwd; ulimit -a; cat /proc/self/cgroup; grep -E 'Cap|NoNew|Secc' /proc/self/status; echo hi >/dev/stderr; umask; exit 3"));
        System.out.println(env.run(TestShell.Options.DEFAULT.onTerminal().with(Map.of("A'B".substring(0,1), "x'y", "LD_PRELOAD","/nope")), "id -u; tty; echo x >/dev/tty; ls -l $(tty); env; kill -TERM $$"));
        long s = System.nanoTime();
        for (int i = 0; i < 20; i++) env.run("exit");
        System.out.println((System.nanoTime() - s) / 20_000_000.0 + " ms each");
      }
    }
  }
}
