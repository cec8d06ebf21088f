package io.envapi.sandbox;

import io.envapi.failure.Result;
import io.envapi.id.EnvironmentId;
import io.envapi.id.ShellId;
import io.envapi.linux.FileDescriptor;
import io.envapi.linux.Memfd;
import io.envapi.linux.Pipe;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A shell that tries its sandbox out. */
final class Trial {

  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final String PASSED = "passed";

  /** Small, but enough for bash, under RLIMIT_AS too. */
  private static final Limits LIMITS = new Limits(64, 256L << 20, 30, 16L << 20);

  private Trial() {}

  /** Why the tier cannot be used; empty when it can. */
  static Optional<String> run(
      Host host, Sandbox sandbox, EnvironmentId environment, Workspace workspace) {
    try (Pipe stdin = Pipe.open();
        Pipe script = Pipe.open();
        Pipe output = Pipe.open();
        Memfd bulk = Memfd.create("bulk");
        FileDescriptor reader = bulk.openReadOnly()) {
      Result<Started> result =
          sandbox.start(
              new Launch(
                  environment,
                  ShellId.of(environment, 1),
                  workspace,
                  ".",
                  Map.of(),
                  LIMITS,
                  false,
                  stdin.read(),
                  script.read(),
                  reader,
                  Optional.of(output.write()),
                  Optional.empty(),
                  Optional.empty()));
      if (!(result instanceof Result.Ok<Started>(var started))) {
        return Optional.of("a shell could not be started in it");
      }
      script.write().writeAll(script(host, sandbox, workspace).getBytes(StandardCharsets.UTF_8));
      script.write().close();
      String said = answer(started, output.read());
      started.members().killAll();
      started.members().close();
      return said.equals(PASSED) ? Optional.empty() : Optional.of(said);
    }
  }

  private static String script(Host host, Sandbox sandbox, Workspace workspace) {
    StringBuilder script =
        new StringBuilder(Launch.FIRST_LINE + "fail() { echo \"$1\"; exit 1; }\n");
    script.append("cd \"$HOME\" 2>/dev/null || fail 'the workspace cannot be entered'\n");
    script.append(
        "{ echo x >.trial && rm .trial; } 2>/dev/null || fail 'the workspace cannot be written to'\n");
    script.append("(:) 2>/dev/null || fail 'no process can be started'\n");
    if (sandbox.tier() != SandboxTier.DIRECTORY) {
      script.append("[ \"$UID\" = " + workspace.uid() + " ] || fail 'shells have another user'\n");
      script.append("[ ! -w /proc/sys/kernel/core_pattern ] || fail 'shells may set sysctls'\n");
    }
    if (sandbox.tier() == SandboxTier.NAMESPACE) {
      script.append("[ ! -e '" + host.settings().root() + "' ] || fail 'the data root shows'\n");
    }
    return script.append("echo ").append(PASSED).append("\n").toString();
  }

  private static String answer(Started started, FileDescriptor output) {
    try {
      started.child().exit().get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException | ExecutionException e) {
      return "its shell does not end";
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return "interrupted";
    }
    output.setNonBlocking();
    byte[] chunk = new byte[4096];
    int read = output.read(chunk, 0, chunk.length);
    return read > 0
        ? new String(chunk, 0, read, StandardCharsets.UTF_8).strip()
        : "its shell says nothing";
  }
}
