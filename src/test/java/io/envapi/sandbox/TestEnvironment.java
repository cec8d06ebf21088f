package io.envapi.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import io.envapi.failure.Result;
import io.envapi.id.EnvironmentId;
import io.envapi.id.ShellId;
import io.envapi.linux.ExitStatus;
import java.util.concurrent.atomic.AtomicInteger;

/** An environment of its own for one test. */
final class TestEnvironment implements AutoCloseable {

  private static int lent;

  /** How a script ended and what it wrote. */
  record Outcome(ExitStatus status, String output) {}

  private final Sandbox sandbox;
  private final EnvironmentId id = EnvironmentId.random();
  private final Workspace workspace;
  private final AtomicInteger shells = new AtomicInteger();

  TestEnvironment(Sandbox sandbox, SandboxSettings settings) {
    this.sandbox = sandbox;
    this.workspace = ok(sandbox.prepare(id, settings.uidBase() + nextUid(settings)));
  }

  private static synchronized int nextUid(SandboxSettings settings) {
    return lent++ % (settings.uidCount() - 1);
  }

  Sandbox sandbox() {
    return sandbox;
  }

  EnvironmentId id() {
    return id;
  }

  Workspace workspace() {
    return workspace;
  }

  TestShell shell() {
    return shell(TestShell.Options.DEFAULT);
  }

  TestShell shell(TestShell.Options options) {
    return new TestShell(this, ShellId.of(id, shells.incrementAndGet()), options);
  }

  /** Runs a script to its end in a shell of its own. */
  Outcome run(String script) {
    return run(TestShell.Options.DEFAULT, script);
  }

  Outcome run(TestShell.Options options, String script) {
    try (TestShell shell = shell(options)) {
      shell.send(script);
      ExitStatus status = shell.finish();
      return new Outcome(status, shell.read());
    }
  }

  /** The output of a script that must succeed. */
  String output(String script) {
    Outcome outcome = run(script);
    assertThat(outcome.status()).as(outcome.output()).isEqualTo(new ExitStatus.Exited(0));
    return outcome.output();
  }

  <T> T ok(Result<T> result) {
    return switch (result) {
      case Result.Ok<T>(var value) -> value;
      case Result.Refused<T>(var failure) -> throw new AssertionError(failure);
    };
  }

  @Override
  public void close() {
    sandbox.remove(id, workspace);
  }
}
