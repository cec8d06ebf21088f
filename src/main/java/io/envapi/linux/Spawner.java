package io.envapi.linux;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * Starts processes, all from one thread that lives as long as the service: the parent-death signal
 * that a sandbox asks for follows the thread that spawned it, not the process (prctl(2)).
 *
 * <p>A confined one carries a seccomp filter on that thread. Threads inherit the filter of the
 * thread that creates them, so the confined one must never wake a virtual thread: that can make it
 * create a carrier for it. Hence it talks through {@link Handoff}, and another thread completes the
 * answers.
 */
public final class Spawner {

  private record Request(
      Spawn spawn, Runnable before, Runnable after, CompletableFuture<Child> answer) {}

  private final Handoff<Request> requests = new Handoff<>();
  private final Handoff<Runnable> answers = new Handoff<>();

  private Spawner() {}

  /** A spawner whose children are as free as the service. */
  public static Spawner plain() {
    return start(() -> {});
  }

  /**
   * A spawner whose children gain no privilege by exec and make their system calls through a
   * filter.
   *
   * @param bpfFilter {@code struct sock_filter} instructions in the byte order of the machine
   * @throws LinuxException when the kernel does not take the filter
   */
  public static Spawner confined(byte[] bpfFilter) {
    byte[] filter = bpfFilter.clone();
    if (filter.length == 0 || filter.length % Prctl.INSTRUCTION_SIZE != 0) {
      throw new IllegalArgumentException("not a filter: " + filter.length + " bytes");
    }
    return start(
        () -> {
          Prctl.noNewPrivileges();
          Prctl.loadFilter(filter);
        });
  }

  /**
   * Starts a process and waits until it has been started.
   *
   * @throws LinuxException naming the program when it cannot be started; nothing is left behind
   *     then
   */
  public Child spawn(Spawn spawn) {
    return spawn(spawn, () -> {}, () -> {});
  }

  /**
   * As {@link #spawn(Spawn)}, with something done around it on the thread that spawns, of which the
   * process inherits what the kernel keeps for each thread, such as its control groups.
   *
   * @param before must start no thread: it would have the filter of a confined spawner
   * @param after undoes it, whether the process was started or not; must not throw
   */
  public Child spawn(Spawn spawn, Runnable before, Runnable after) {
    CompletableFuture<Child> answer = new CompletableFuture<>();
    requests.put(new Request(spawn, before, after, answer));
    return join(answer);
  }

  private static Spawner start(Runnable prepare) {
    Reaper.instance();
    Spawner spawner = new Spawner();
    CompletableFuture<Boolean> ready = new CompletableFuture<>();
    daemon("spawner-answers", spawner::answer);
    daemon("spawner", () -> spawner.serve(prepare, ready));
    join(ready);
    return spawner;
  }

  private static <T> T join(CompletableFuture<T> future) {
    try {
      return future.join();
    } catch (CompletionException e) {
      throw e.getCause() instanceof LinuxException failure ? failure : e;
    }
  }

  private static void daemon(String name, Runnable body) {
    Thread.ofPlatform().daemon().name(name).start(body);
  }

  private void serve(Runnable prepare, CompletableFuture<Boolean> ready) {
    try {
      prepare.run();
    } catch (RuntimeException | Error e) {
      answers.put(() -> ready.completeExceptionally(e));
      return;
    }
    answers.put(() -> ready.complete(true));
    while (true) {
      Request request = requests.take();
      try {
        Child child = Reaper.instance().register(() -> around(request));
        answers.put(() -> request.answer.complete(child));
      } catch (RuntimeException | Error e) {
        answers.put(() -> request.answer.completeExceptionally(e));
      }
    }
  }

  private void answer() {
    while (true) {
      answers.take().run();
    }
  }

  private static Child around(Request request) {
    try {
      request.before.run();
      return open(request.spawn);
    } finally {
      request.after.run();
    }
  }

  private static Child open(Spawn spawn) {
    int pid = PosixSpawn.spawn(spawn);
    try {
      return new Child(pid, PidFd.open(pid).orElseThrow());
    } catch (RuntimeException e) {
      PosixSpawn.kill(pid);
      throw e;
    }
  }
}
