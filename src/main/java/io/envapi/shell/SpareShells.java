package io.envapi.shell;

import io.envapi.failure.Result;
import io.envapi.id.EnvironmentId;
import java.time.Duration;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;

/**
 * Shells started ahead of who will want them, at most one for each environment and a bounded number
 * on the host. A spare is given away once and never comes back.
 *
 * <p>It counts in no quota and no listing. When there are too many, the one that waited longest
 * goes.
 */
final class SpareShells {

  /**
   * @param launched completes empty when the shell could not be started
   * @param since {@link System#nanoTime}
   */
  private record Spare(
      ShellProcesses.Opening opening,
      CompletableFuture<Optional<ShellLauncher.Launched>> launched,
      long since) {}

  private final ShellLauncher launcher;
  private final int most;
  private final Executor waiting;
  private final Map<EnvironmentId, Spare> spares = new ConcurrentHashMap<>();

  SpareShells(ShellLauncher launcher, int most, Executor waiting) {
    this.launcher = launcher;
    this.most = most;
    this.waiting = waiting;
  }

  /** Whether {@link #keep} would start one. */
  boolean wants(EnvironmentId environment) {
    return most > 0 && !spares.containsKey(environment);
  }

  /** Starts a spare for the environment unless it has one. Does not wait for it. */
  void keep(ShellProcesses.Opening opening) {
    if (most == 0 || !opening.isPlain()) {
      return;
    }
    EnvironmentId environment = opening.id().environment();
    var spare = new Spare(opening, new CompletableFuture<>(), System.nanoTime());
    if (spares.putIfAbsent(environment, spare) != null) {
      return;
    }
    waiting.execute(() -> launch(environment, spare));
    if (spares.size() > most) {
      spares.entrySet().stream()
          .min(Comparator.comparingLong(entry -> entry.getValue().since()))
          .ifPresent(oldest -> forget(oldest.getKey(), oldest.getValue()));
    }
  }

  private void launch(EnvironmentId environment, Spare spare) {
    try {
      launched(environment, spare, launcher.launch(spare.opening()));
    } finally {
      // Whatever broke: somebody may wait for it.
      if (spare.launched().complete(Optional.empty())) {
        spares.remove(environment, spare);
      }
    }
  }

  private void launched(
      EnvironmentId environment, Spare spare, Result<ShellLauncher.Launched> result) {
    switch (result) {
      case Result.Refused<ShellLauncher.Launched> _ -> {}
      case Result.Ok<ShellLauncher.Launched>(var launched) -> {
        spare.launched().complete(Optional.of(launched));
        var _ = launched.started().child().exit().thenRun(() -> forget(environment, spare));
      }
    }
  }

  /** The spare of the environment if it is as {@code wanted} in all but its id; blocks shortly. */
  Optional<ShellLauncher.Launched> take(ShellProcesses.Opening wanted) {
    EnvironmentId environment = wanted.id().environment();
    Spare spare = spares.get(environment);
    if (spare == null || !wanted.isPlain()) {
      return Optional.empty();
    }
    if (!spare.opening().isLike(wanted)) {
      forget(environment, spare);
      return Optional.empty();
    }
    if (!spares.remove(environment, spare)) {
      return Optional.empty();
    }
    Optional<ShellLauncher.Launched> launched = spare.launched().join();
    if (launched.isPresent() && !launched.get().started().child().isAlive()) {
      launched.get().discard();
      return Optional.empty();
    }
    return launched;
  }

  /** Ends the environment's spare. Blocks until nothing of it is left. */
  void drop(EnvironmentId environment) {
    Optional.ofNullable(spares.remove(environment)).ifPresent(SpareShells::discard);
  }

  /** Ends the environment's spare if nobody took it for {@code age}. */
  void dropOlder(EnvironmentId environment, Duration age) {
    Spare spare = spares.get(environment);
    if (spare != null && System.nanoTime() - spare.since() > age.toNanos()) {
      forget(environment, spare);
    }
  }

  /** Ends them all; completes when nothing of them is left. */
  CompletableFuture<Void> dropAll() {
    return CompletableFuture.allOf(
        spares.keySet().stream()
            .map(environment -> CompletableFuture.runAsync(() -> drop(environment), waiting))
            .toArray(CompletableFuture<?>[]::new));
  }

  private void forget(EnvironmentId environment, Spare spare) {
    if (spares.remove(environment, spare)) {
      waiting.execute(() -> discard(spare));
    }
  }

  private static void discard(Spare spare) {
    spare.launched().join().ifPresent(ShellLauncher.Launched::discard);
  }
}
