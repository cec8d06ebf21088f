package io.envapi.linux;

import java.util.concurrent.CompletableFuture;

/** A process this service spawned. Its descriptor is closed when it has been waited for. */
public final class Child {

  private final int pid;
  private final PidFd descriptor;
  private final CompletableFuture<ExitStatus> exit = new CompletableFuture<>();
  private volatile Runnable onStop = () -> {};
  private boolean gone;

  Child(int pid, PidFd descriptor) {
    this.pid = pid;
    this.descriptor = descriptor;
  }

  public int pid() {
    return pid;
  }

  /**
   * How it ended, once it has been waited for. Dependents that are not {@code Async} run on the
   * thread that waits for every child: they must be short and never block.
   */
  public CompletableFuture<ExitStatus> exit() {
    return exit.copy();
  }

  /**
   * What to do each time it has been stopped (SIGSTOP). Runs on the thread that waits for every
   * child: it must be short and never block.
   */
  public void onStop(Runnable action) {
    onStop = action;
  }

  /** False once it has been waited for. */
  public boolean isAlive() {
    return !exit.isDone();
  }

  /** Sends {@code signal}; does nothing when it has ended. */
  public void signal(Signal signal) {
    synchronized (descriptor) {
      if (!gone) {
        descriptor.signal(signal);
      }
    }
  }

  void stopped() {
    onStop.run();
  }

  void ended(ExitStatus status) {
    synchronized (descriptor) {
      gone = true;
      descriptor.close();
    }
    exit.complete(status);
  }

  @Override
  public String toString() {
    return "child " + pid;
  }
}
