package io.envapi.shell;

import io.envapi.failure.Failure;
import io.envapi.failure.Result;
import io.envapi.linux.FileDescriptor;
import io.envapi.linux.LinuxException;
import io.envapi.linux.Memfd;
import io.envapi.linux.Pipe;
import io.envapi.linux.Pty;
import io.envapi.sandbox.Launch;
import io.envapi.sandbox.Sandbox;
import io.envapi.sandbox.Started;
import io.envapi.sandbox.Terminal;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Starts the process of a shell, with pipes to it. */
final class ShellLauncher {

  private static final Logger LOG = LoggerFactory.getLogger(ShellLauncher.class);
  static final Failure NOT_STARTED = new Failure.SandboxFailed("the shell could not be started");

  /** A shell that runs, confined and limited, and has not been told anything yet. */
  record Launched(ShellProcesses.Opening opening, Started started, ShellProcess.Pipes pipes) {

    /** Ends it. Blocks until nothing of it is left. */
    void discard() {
      started.members().killAll();
      started.members().close();
      pipes.script().close();
      pipes.stdin().close();
      pipes.output().close();
      pipes.bulk().close();
    }
  }

  private final Sandbox sandbox;
  private final ShellMeter meter;

  ShellLauncher(Sandbox sandbox, ShellMeter meter) {
    this.sandbox = sandbox;
    this.meter = meter;
  }

  /** Blocks; leaves nothing behind when it is refused. */
  Result<Launched> launch(ShellProcesses.Opening opening) {
    long begun = System.nanoTime();
    Result<Launched> launched = attempt(opening);
    switch (launched) {
      case Result.Ok<Launched> _ ->
          meter.started(sandbox.tier().label(), System.nanoTime() - begun);
      case Result.Refused<Launched> _ -> meter.notStarted();
    }
    return launched;
  }

  private Result<Launched> attempt(ShellProcesses.Opening opening) {
    try {
      return opening.terminal().isPresent()
          ? sandbox
              .openTerminal(opening.id().environment(), opening.workspace(), opening.network())
              .then(terminal -> start(opening, Optional.of(terminal)))
          : start(opening, Optional.empty());
    } catch (LinuxException e) {
      LOG.warn("a shell could not be started: {}", e.getMessage());
      return Result.refused(NOT_STARTED);
    }
  }

  private Result<Launched> start(ShellProcesses.Opening opening, Optional<Terminal> terminal) {
    try (var ours = new Ends();
        var theirs = new Ends()) {
      terminal.ifPresent(t -> ours.hold(t.master()));
      terminal.ifPresent(t -> prepare(t, opening.terminal().orElseThrow()));
      Pipe script = Pipe.open();
      ours.hold(script.write());
      theirs.hold(script.read());
      Pipe stdin = Pipe.open();
      ours.hold(stdin.write());
      theirs.hold(stdin.read());
      Optional<Pipe> output = terminal.isPresent() ? Optional.empty() : Optional.of(Pipe.open());
      output.ifPresent(pipe -> ours.hold(pipe.read()));
      output.ifPresent(pipe -> theirs.hold(pipe.write()));
      Memfd bulk = Memfd.create("command");
      ours.hold(bulk);
      FileDescriptor readBulk = bulk.openReadOnly();
      theirs.hold(readBulk);
      var launch =
          new Launch(
              opening.id().environment(),
              opening.id(),
              opening.workspace(),
              opening.cwd(),
              opening.environment(),
              opening.limits(),
              opening.network(),
              stdin.read(),
              script.read(),
              readBulk,
              output.map(Pipe::write),
              terminal,
              opening.shell());
      FileDescriptor prints =
          output.map(Pipe::read).orElseGet(() -> terminal.orElseThrow().master());
      stdin.write().setNonBlocking();
      prints.setNonBlocking();
      var pipes = new ShellProcess.Pipes(script.write(), stdin.write(), prints, bulk, terminal);
      return sandbox
          .start(launch)
          .map(
              started -> {
                ours.keep();
                return new Launched(opening, started, pipes);
              });
    }
  }

  private static void prepare(Terminal terminal, TerminalSize size) {
    var pty = new Pty(terminal.master(), terminal.slave());
    pty.setSize(size.rows(), size.columns());
    pty.setEcho(false);
  }

  /** The ends of pipes on one side of the start; closed unless they are kept. */
  private static final class Ends implements AutoCloseable {

    private final List<Runnable> closing = new ArrayList<>();

    void hold(FileDescriptor end) {
      closing.add(end::close);
    }

    void hold(Memfd file) {
      closing.add(file::close);
    }

    void keep() {
      closing.clear();
    }

    @Override
    public void close() {
      closing.forEach(Runnable::run);
    }
  }
}
