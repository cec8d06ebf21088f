package io.envapi.environment;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Executor;

/**
 * Lets one user of shared threads have only so many of them at once. The rest of its tasks wait
 * here, in order and without a thread; after each that has its turn, everybody else's come first.
 */
final class Turns implements Executor {

  private final Executor threads;
  private final int most;
  private final Queue<Runnable> waiting = new ArrayDeque<>();
  private int taken;

  /**
   * @param most of the threads at once, 1 or more
   */
  Turns(Executor threads, int most) {
    this.threads = threads;
    this.most = most;
  }

  @Override
  public void execute(Runnable task) {
    synchronized (this) {
      if (taken == most) {
        waiting.add(task);
        return;
      }
      taken++;
    }
    begin(task);
  }

  synchronized int waiting() {
    return waiting.size();
  }

  private void begin(Runnable task) {
    threads.execute(
        () -> {
          try {
            task.run();
          } finally {
            next();
          }
        });
  }

  private void next() {
    Runnable task;
    synchronized (this) {
      if (waiting.isEmpty()) {
        taken--;
        return;
      }
      task = waiting.remove();
    }
    begin(task);
  }
}
