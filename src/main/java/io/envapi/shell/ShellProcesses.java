package io.envapi.shell;

import io.envapi.failure.Failure;
import io.envapi.failure.Result;
import io.envapi.id.EnvironmentId;
import io.envapi.id.ShellId;
import io.envapi.linux.FileDescriptor;
import io.envapi.linux.LinuxException;
import io.envapi.linux.Memfd;
import io.envapi.linux.Pipe;
import io.envapi.linux.Pty;
import io.envapi.sandbox.Launch;
import io.envapi.sandbox.Limits;
import io.envapi.sandbox.Sandbox;
import io.envapi.sandbox.Terminal;
import io.envapi.sandbox.Workspace;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The live shells of this host. Outside the actors, so that a failed actor finds its process again
 * when it restarts.
 */
public final class ShellProcesses {

  private static final Logger LOG = LoggerFactory.getLogger(ShellProcesses.class);
  private static final int RETRY_SECONDS = 5;
  private static final Duration RECORDING = Duration.ofSeconds(2);
  private static final Failure NOT_STARTED =
      new Failure.SandboxFailed("the shell could not be started");

  /**
   * A shell to be opened.
   *
   * @param cwd relative to the workspace, resolved and checked
   * @param shell the shell its owner would like, which is started if it can be
   * @param ringBytes the newest output held in memory
   */
  public record Opening(
      ShellId id,
      Workspace workspace,
      String cwd,
      Map<String, String> environment,
      Limits limits,
      boolean network,
      Optional<TerminalSize> terminal,
      Optional<String> shell,
      int ringBytes) {}

  private final Sandbox sandbox;
  private final ShellRuntime runtime;
  private final Map<ShellId, ShellProcess> live = new ConcurrentHashMap<>();
  private final Map<ShellId, CompletableFuture<Void>> unrecorded = new ConcurrentHashMap<>();
  private volatile boolean ending;

  public ShellProcesses(Sandbox sandbox, ShellRuntime runtime) {
    this.sandbox = sandbox;
    this.runtime = runtime;
  }

  /** Starts a shell. Blocks; leaves nothing behind when it is refused. */
  public Result<ShellProcess> open(Opening opening) {
    if (ending) {
      return Result.refused(new Failure.HostUnavailable(RETRY_SECONDS));
    }
    try {
      return opening.terminal().isPresent()
          ? openTerminal(opening, opening.terminal().get())
          : start(opening, Optional.empty());
    } catch (LinuxException e) {
      LOG.warn("a shell could not be started: {}", e.getMessage());
      return Result.refused(NOT_STARTED);
    }
  }

  private Result<ShellProcess> openTerminal(Opening opening, TerminalSize size) {
    return sandbox
        .openTerminal(opening.id().environment(), opening.workspace(), opening.network())
        .then(
            terminal -> {
              Pty pty = new Pty(terminal.master(), terminal.slave());
              pty.setSize(size.rows(), size.columns());
              pty.setEcho(false);
              return start(opening, Optional.of(terminal));
            });
  }

  private Result<ShellProcess> start(Opening opening, Optional<Terminal> terminal) {
    Pipe script = Pipe.open();
    Pipe stdin = Pipe.open();
    Memfd bulk = Memfd.create("command");
    Optional<Pipe> output = terminal.isPresent() ? Optional.empty() : Optional.of(Pipe.open());
    FileDescriptor readBulk = bulk.openReadOnly();
    Launch launch =
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
    var started = sandbox.start(launch);
    stdin.read().close();
    script.read().close();
    readBulk.close();
    output.ifPresent(p -> p.write().close());
    FileDescriptor prints = output.map(Pipe::read).orElseGet(() -> terminal.orElseThrow().master());
    return switch (started) {
      case Result.Refused<?>(var failure) -> {
        List.of(script.write(), stdin.write(), prints).forEach(FileDescriptor::close);
        bulk.close();
        yield Result.refused(failure);
      }
      case Result.Ok<io.envapi.sandbox.Started>(var shell) -> {
        stdin.write().setNonBlocking();
        prints.setNonBlocking();
        var pipes = new ShellProcess.Pipes(script.write(), stdin.write(), prints, bulk, terminal);
        var process =
            new ShellProcess(
                opening.id(),
                shell,
                pipes,
                sandbox.lost(opening.id().environment()),
                runtime,
                opening.workspace().logs(),
                opening.ringBytes());
        live.put(opening.id(), process);
        var _ = process.gone().thenRun(() -> live.remove(opening.id(), process));
        if (ending) {
          runtime.waiting().execute(process::kill);
        }
        yield Result.ok(process);
      }
    };
  }

  public Optional<ShellProcess> find(ShellId id) {
    return Optional.ofNullable(live.get(id));
  }

  /** How many are live. */
  public int count() {
    return live.size();
  }

  /** The live shells of an environment. */
  public List<ShellProcess> of(EnvironmentId environment) {
    return live.values().stream().filter(p -> p.id().environment().equals(environment)).toList();
  }

  /**
   * Ends every shell because the service ends, and starts no more: SIGTERM, and SIGKILL after
   * {@code grace}. Completes when the ends are in the journal, or shortly after the grace.
   */
  public CompletableFuture<Void> endAll(Duration grace) {
    ending = true;
    return CompletableFuture.allOf(
        live.values().stream()
            .map(shell -> end(shell, grace))
            .toArray(CompletableFuture<?>[]::new));
  }

  private CompletableFuture<Void> end(ShellProcess shell, Duration grace) {
    var recorded = unrecorded.computeIfAbsent(shell.id(), id -> new CompletableFuture<>());
    runtime.waiting().execute(() -> shell.endWithService(grace));
    return recorded.completeOnTimeout(
        null, grace.plus(RECORDING).toMillis(), TimeUnit.MILLISECONDS);
  }

  /** The journal has the end of a shell. */
  public void recorded(ShellId id) {
    CompletableFuture<Void> awaited = unrecorded.get(id);
    if (awaited != null) {
      awaited.complete(null);
    }
  }
}
