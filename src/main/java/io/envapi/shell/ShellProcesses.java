package io.envapi.shell;

import io.envapi.failure.Failure;
import io.envapi.failure.Result;
import io.envapi.id.EnvironmentId;
import io.envapi.id.ShellId;
import io.envapi.linux.LinuxException;
import io.envapi.sandbox.Limits;
import io.envapi.sandbox.Sandbox;
import io.envapi.sandbox.Workspace;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.Stream;
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
      int ringBytes) {

    /** Whether it starts as every shell of its environment does when nothing is said. */
    boolean isPlain() {
      return cwd.equals(".") && environment.isEmpty() && terminal.isEmpty();
    }

    /** Whether both describe the same shell but for the id. */
    boolean isLike(Opening other) {
      return equals(other.as(id));
    }

    private Opening as(ShellId other) {
      return new Opening(
          other, workspace, cwd, environment, limits, network, terminal, shell, ringBytes);
    }
  }

  private final Sandbox sandbox;
  private final ShellRuntime runtime;
  private final ShellLauncher launcher;
  private final SpareShells spares;
  private final Map<ShellId, ShellProcess> live = new ConcurrentHashMap<>();
  private final Map<ShellId, ShellFate> fates = new ConcurrentHashMap<>();
  private final Map<ShellId, CompletableFuture<Void>> unrecorded = new ConcurrentHashMap<>();
  private final AtomicInteger starting = new AtomicInteger();
  private final Map<EnvironmentId, Integer> numbers = new ConcurrentHashMap<>();
  private volatile boolean ending;

  public ShellProcesses(Sandbox sandbox, ShellRuntime runtime) {
    this.sandbox = sandbox;
    this.runtime = runtime;
    this.launcher = new ShellLauncher(sandbox, runtime.meter());
    this.spares = new SpareShells(launcher, runtime.settings().spares(), runtime.waiting());
  }

  /**
   * A shell, and a spare for the next. It is the spare of the environment where that fits, and then
   * keeps its own id; the new spare gets the id that was not used. Blocks; leaves nothing behind
   * when it is refused.
   *
   * @param next the id of a spare where there was none, see {@link #wantsSpare}
   */
  public Result<ShellProcess> open(Opening opening, Optional<ShellId> next) {
    return ifRoom(
        () -> {
          Optional<ShellLauncher.Launched> spare = spares.take(opening);
          if (spare.isPresent()) {
            spares.keep(opening);
            return run(spare.get());
          }
          Result<ShellProcess> opened = launcher.launch(opening).then(this::run);
          next.ifPresent(id -> spares.keep(opening.as(id)));
          return opened;
        });
  }

  private Result<ShellProcess> ifRoom(Supplier<Result<ShellProcess>> opening) {
    if (ending) {
      return Result.refused(new Failure.HostUnavailable(RETRY_SECONDS));
    }
    int most = runtime.settings().maxLive();
    try {
      return starting.incrementAndGet() + live.size() > most && most > 0
          ? Result.refused(new Failure.NoCapacity(RETRY_SECONDS))
          : opening.get();
    } finally {
      starting.decrementAndGet();
    }
  }

  /**
   * The number of the next shell of an environment; never given twice while the service runs, also
   * when an opening fails or its actor starts again.
   *
   * @param lastStored the highest number in the journal
   */
  public int nextNumber(EnvironmentId environment, int lastStored) {
    return numbers.merge(environment, lastStored + 1, (given, next) -> Math.max(given + 1, next));
  }

  /** The environment is gone. */
  public void forget(EnvironmentId environment) {
    numbers.remove(environment);
  }

  /** Whether the environment has no spare shell and may have one. */
  public boolean wantsSpare(EnvironmentId environment) {
    return spares.wants(environment);
  }

  /** Ends the spare shell of an environment. Blocks until nothing of it is left. */
  public void dropSpare(EnvironmentId environment) {
    spares.drop(environment);
  }

  /** Ends the spare shell of an environment if nobody wanted it for {@code age}. */
  public void dropSpareOlderThan(EnvironmentId environment, Duration age) {
    spares.dropOlder(environment, age);
  }

  private Result<ShellProcess> run(ShellLauncher.Launched launched) {
    Opening opening = launched.opening();
    ShellProcess process;
    try {
      process =
          new ShellProcess(
              opening.id(),
              launched.started(),
              launched.pipes(),
              sandbox.lost(opening.id().environment()),
              runtime,
              opening.workspace().logs(),
              opening.ringBytes());
    } catch (LinuxException e) {
      LOG.warn("{} cannot be watched: {}", opening.id(), e.getMessage());
      launched.discard();
      return Result.refused(ShellLauncher.NOT_STARTED);
    }
    live.put(opening.id(), process);
    var fate = new ShellFate();
    fates.put(opening.id(), fate);
    var _ =
        process
            .gone()
            .thenAccept(
                status -> {
                  process.fate().ifPresent(fate::killedFor);
                  fate.ended(status);
                  live.remove(opening.id(), process);
                });
    if (ending) {
      runtime.waiting().execute(process::kill);
    }
    return Result.ok(process);
  }

  public Optional<ShellProcess> find(ShellId id) {
    return Optional.ofNullable(live.get(id));
  }

  /** What was done to a shell and became of it, until its end is in the journal. */
  ShellFate fate(ShellId id) {
    return Optional.ofNullable(fates.get(id)).orElseGet(ShellFate::new);
  }

  /** How many shells live. */
  public int count() {
    return live.size();
  }

  /** How many environments have a live shell. */
  public long environments() {
    return live.keySet().stream().map(ShellId::environment).distinct().count();
  }

  /** The live shells of an environment. */
  public List<ShellProcess> of(EnvironmentId environment) {
    return live.values().stream().filter(p -> p.id().environment().equals(environment)).toList();
  }

  /**
   * Ends every shell because the service ends, and starts no more: SIGTERM, and SIGKILL after
   * {@code grace}. Completes when the ends are in the journal, or shortly after the grace, and
   * nothing is left of the sandboxes.
   */
  public CompletableFuture<Void> endAll(Duration grace) {
    ending = true;
    return all(Stream.concat(
            Stream.of(spares.dropAll()), live.values().stream().map(s -> end(s, grace))))
        .thenCompose(ended -> all(numbers.keySet().stream().map(this::stopSandbox)));
  }

  private static CompletableFuture<Void> all(Stream<CompletableFuture<Void>> all) {
    return CompletableFuture.allOf(all.toArray(CompletableFuture<?>[]::new));
  }

  private CompletableFuture<Void> stopSandbox(EnvironmentId environment) {
    return CompletableFuture.runAsync(() -> sandbox.stop(environment), runtime.waiting());
  }

  private CompletableFuture<Void> end(ShellProcess shell, Duration grace) {
    var recorded = unrecorded.computeIfAbsent(shell.id(), id -> new CompletableFuture<>());
    runtime.waiting().execute(() -> shell.endWithService(grace));
    return recorded.completeOnTimeout(
        null, grace.plus(RECORDING).toMillis(), TimeUnit.MILLISECONDS);
  }

  /** The journal has the end of a shell. */
  public void recorded(ShellId id) {
    fates.remove(id);
    CompletableFuture<Void> awaited = unrecorded.get(id);
    if (awaited != null) {
      awaited.complete(null);
    }
  }
}
