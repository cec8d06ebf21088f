package io.envapi.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import io.envapi.failure.Result;
import io.envapi.id.ShellId;
import io.envapi.linux.ExitStatus;
import io.envapi.linux.FileDescriptor;
import io.envapi.linux.LinuxException;
import io.envapi.linux.Memfd;
import io.envapi.linux.Pipe;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** A shell of a {@link TestEnvironment}, fed and read as the service does, without its framing. */
final class TestShell implements AutoCloseable {

  static final Limits LIMITS = new Limits(200, 512L << 20, 60, 64L << 20);

  /** What to start; the defaults are a shell in the workspace with {@link #LIMITS}. */
  record Options(
      String cwd, Map<String, String> variables, Limits limits, boolean network, boolean pty) {
    static final Options DEFAULT = new Options(".", Map.of(), LIMITS, false, false);

    Options in(String directory) {
      return new Options(directory, variables, limits, network, pty);
    }

    Options with(Map<String, String> more) {
      return new Options(cwd, more, limits, network, pty);
    }

    Options within(Limits other) {
      return new Options(cwd, variables, other, network, pty);
    }

    Options networked() {
      return new Options(cwd, variables, limits, true, pty);
    }

    Options onTerminal() {
      return new Options(cwd, variables, limits, network, true);
    }
  }

  private final Pipe stdin = Pipe.open();
  private final Pipe script = Pipe.open();
  private final Optional<Pipe> output;
  private final Optional<Terminal> terminal;
  private final FileDescriptor source;
  private final Result<Started> result;
  private final ByteArrayOutputStream seen = new ByteArrayOutputStream();

  TestShell(TestEnvironment environment, ShellId id, Options options) {
    Sandbox sandbox = environment.sandbox();
    terminal =
        options.pty()
            ? Optional.of(
                environment.ok(
                    sandbox.openTerminal(
                        environment.id(), environment.workspace(), options.network())))
            : Optional.empty();
    output = options.pty() ? Optional.empty() : Optional.of(Pipe.open());
    source = terminal.map(Terminal::master).orElseGet(() -> output.orElseThrow().read());
    source.setNonBlocking();
    try (Memfd bulk = Memfd.create("bulk");
        FileDescriptor reader = bulk.openReadOnly()) {
      result =
          sandbox.start(
              new Launch(
                  environment.id(),
                  id,
                  environment.workspace(),
                  options.cwd(),
                  options.variables(),
                  options.limits(),
                  options.network(),
                  stdin.read(),
                  script.read(),
                  reader,
                  output.map(Pipe::write),
                  terminal,
                  Optional.empty()));
    }
    stdin.read().close();
    script.read().close();
    output.ifPresent(pipe -> pipe.write().close());
    if (result instanceof Result.Ok<Started>) {
      script.write().writeAll(Launch.FIRST_LINE.getBytes(StandardCharsets.UTF_8));
    }
  }

  Result<Started> result() {
    return result;
  }

  Started started() {
    return switch (result) {
      case Result.Ok<Started>(var started) -> started;
      case Result.Refused<Started>(var failure) -> throw new AssertionError(failure);
    };
  }

  /** Gives the shell lines to run. */
  TestShell send(String lines) {
    started();
    script.write().writeAll((lines + "\n").getBytes(StandardCharsets.UTF_8));
    return this;
  }

  TestShell type(String text) {
    terminal.orElseThrow().master().writeAll(text.getBytes(StandardCharsets.UTF_8));
    return this;
  }

  Terminal terminal() {
    return terminal.orElseThrow();
  }

  /** Waits until the output so far contains {@code text}. */
  String until(String text) {
    org.awaitility.Awaitility.await()
        .atMost(Duration.ofSeconds(20))
        .pollInterval(Duration.ofMillis(2))
        .untilAsserted(() -> assertThat(read()).contains(text));
    return read();
  }

  /** Ends the script and waits until the shell has. */
  ExitStatus finish() {
    script.write().close();
    return exit();
  }

  ExitStatus exit() {
    long deadline = System.nanoTime() + Duration.ofSeconds(60).toNanos();
    while (started().child().isAlive() && System.nanoTime() < deadline) {
      read();
      try {
        started().child().exit().get(5, TimeUnit.MILLISECONDS);
      } catch (java.util.concurrent.TimeoutException e) {
        continue;
      } catch (Exception e) {
        throw new AssertionError(e);
      }
    }
    assertThat(started().child().isAlive()).as("alive, after output %s", read()).isFalse();
    return started().child().exit().join();
  }

  /** All output so far. */
  String read() {
    byte[] chunk = new byte[64 * 1024];
    try {
      int read;
      while ((read = source.read(chunk, 0, chunk.length)) > 0) {
        seen.write(chunk, 0, read);
      }
    } catch (LinuxException e) {
      // EIO: nobody has the terminal open any more.
      return seen.toString(StandardCharsets.UTF_8);
    }
    return seen.toString(StandardCharsets.UTF_8);
  }

  @Override
  public void close() {
    if (result instanceof Result.Ok<Started>(var started)) {
      started.members().killAll();
      started.child().exit().join();
      started.members().close();
    }
    stdin.close();
    script.close();
    output.ifPresent(Pipe::close);
    terminal.ifPresent(t -> t.master().close());
  }
}
