package io.envapi.sandbox;

import io.envapi.linux.Child;
import io.envapi.linux.FileDescriptor;
import io.envapi.linux.Signal;
import io.envapi.process.ProcessIdentity;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.LockSupport;

/**
 * The process that keeps an environment's namespaces: the first one of its pid namespace. When it
 * ends, the kernel ends every other process in there.
 */
final class Holder {

  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final long PAUSE_NANOS = Duration.ofMillis(1).toNanos();

  /** {@code <linux/sched.h>}: on its way out, though it may still wait for others. */
  private static final long PF_EXITING = 4;

  private static final Executor THREADS =
      task -> Thread.ofVirtual().name("holder-lost").start(task);

  private final Child monitor;
  private final ProcessIdentity init;
  private final FileDescriptor lifeline;
  private final Optional<Cgroup> group;
  private final boolean network;
  private final CompletableFuture<Void> lost = new CompletableFuture<>();
  private volatile boolean stopping;

  /**
   * @param monitor bubblewrap outside
   * @param init its child inside, as the host sees it
   * @param lifeline what {@code init} reads; it ends when this is closed
   */
  Holder(
      Child monitor,
      ProcessIdentity init,
      FileDescriptor lifeline,
      Optional<Cgroup> group,
      boolean network) {
    this.monitor = monitor;
    this.init = init;
    this.lifeline = lifeline;
    this.group = group;
    this.network = network;
    var _ =
        monitor
            .exit()
            .thenRunAsync(
                () -> {
                  if (!stopping) {
                    init.signal(Signal.KILL);
                    lost.complete(null);
                  }
                },
                THREADS);
  }

  ProcessIdentity init() {
    return init;
  }

  /** Bubblewrap itself; without privilege, its user namespace is the one to start from. */
  int monitor() {
    return monitor.pid();
  }

  boolean network() {
    return network;
  }

  CompletableFuture<Void> lost() {
    return lost.copy();
  }

  /** Whether processes can still be put into its namespaces. */
  boolean isAlive() {
    return init.isAlive() && !exiting();
  }

  private boolean exiting() {
    try {
      String stat = Files.readString(Path.of("/proc/" + init.pid() + "/stat"));
      String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
      return (Long.parseLong(fields[6]) & PF_EXITING) != 0;
    } catch (IOException e) {
      return true;
    }
  }

  /**
   * Ends it and everything in its namespaces, and waits until they are gone.
   *
   * <p>Bubblewrap is not waited for: it hangs when its child was stopped by a tracer.
   */
  void stop() {
    stopping = true;
    init.signal(Signal.KILL);
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (init.isAlive() && System.nanoTime() < deadline) {
      LockSupport.parkNanos(PAUSE_NANOS);
    }
    monitor.signal(Signal.KILL);
    lifeline.close();
    group.ifPresent(
        made -> {
          new CgroupMembership(made).killAll();
          made.remove();
        });
  }
}
