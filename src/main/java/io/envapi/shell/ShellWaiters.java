package io.envapi.shell;

import io.envapi.id.CommandId;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.apache.pekko.actor.Cancellable;

/** The callers who wait for something of a shell. */
final class ShellWaiters {

  /** A caller, and what is waited for. */
  sealed interface Waiter {}

  record ForExec(Shell.Exec exec, CommandId command) implements Waiter {}

  record ForOutput(Shell.ReadOutput read) implements Waiter {}

  record ForNews(Shell.Follow follow) implements Waiter {}

  record ForIdle(Shell.Await await) implements Waiter {}

  record ForClose(Shell.Close close) implements Waiter {}

  /** Insertion order does not matter; identity does, since two callers may ask the same. */
  private final IdentityHashMap<Waiter, Optional<Cancellable>> waiting = new IdentityHashMap<>();

  private volatile boolean wantsOutput;

  void add(Waiter waiter) {
    waiting.put(waiter, Optional.empty());
    wantsOutput |= wantsOutput(waiter);
  }

  /** Cancelled as soon as the waiter is answered. */
  void timer(Waiter waiter, Cancellable timer) {
    waiting.put(waiter, Optional.of(timer));
  }

  /** Whether the waiter was still there. */
  boolean remove(Waiter waiter) {
    return !take(w -> w == waiter).isEmpty();
  }

  /** Whether new output would answer somebody. Asked by the thread that reads the output. */
  boolean wantsOutput() {
    return wantsOutput;
  }

  List<Waiter> takeOutput() {
    return take(ShellWaiters::wantsOutput);
  }

  private static boolean wantsOutput(Waiter waiter) {
    return waiter instanceof ForOutput || waiter instanceof ForNews;
  }

  /** Those who follow the shell, and want to hear of a command that starts. */
  List<Waiter> takeFollowers() {
    return take(w -> w instanceof ForNews);
  }

  /** Those whom the end of a command answers. */
  List<Waiter> takeForEnd() {
    return take(w -> !(w instanceof ForClose));
  }

  List<Waiter> takeAll() {
    return take(w -> true);
  }

  private List<Waiter> take(Predicate<Waiter> which) {
    List<Waiter> taken = new ArrayList<>();
    waiting
        .entrySet()
        .removeIf(
            entry -> {
              boolean take = which.test(entry.getKey());
              if (take) {
                entry.getValue().ifPresent(Cancellable::cancel);
                taken.add(entry.getKey());
              }
              return take;
            });
    wantsOutput = waiting.keySet().stream().anyMatch(ShellWaiters::wantsOutput);
    return taken;
  }
}
