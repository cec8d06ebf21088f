package io.envapi.environment;

import io.envapi.Unanswered;
import io.envapi.account.Account;
import io.envapi.id.EnvironmentId;
import io.envapi.id.ShellId;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.pekko.actor.typed.javadsl.ActorContext;

/** What the parts of an environment's actor share, and use on its thread. */
record EnvironmentSelf(
    EnvironmentId id,
    ActorContext<Environment.Command> context,
    Unanswered unanswered,
    EnvironmentRuntime runtime,
    EnvironmentLife life,
    EnvironmentShells shells,
    EnvironmentWork work,
    EnvironmentEffects effects) {

  Executor blocking() {
    return runtime.shells().blocking();
  }

  <T> CompletionStage<T> blocking(Supplier<T> task) {
    return CompletableFuture.supplyAsync(task, blocking());
  }

  /** Has {@code task} done where it may block; a task that breaks makes the actor start again. */
  <T> void later(Supplier<T> task, Function<T, EnvironmentActor.Internal> message) {
    context.pipeToSelf(
        blocking(task),
        (value, failure) -> {
          if (failure != null) {
            throw new IllegalStateException("work of an environment failed", failure);
          }
          return message.apply(value);
        });
  }

  void tellAccount(EnvironmentState.Present present, Account.Change change) {
    var _ = runtime.accounts().changed(present.account(), id, change);
  }

  /**
   * The rows of shells that the environment has no longer. What fails goes with the environment.
   */
  void forgetShells(EnvironmentState before, EnvironmentState after) {
    if (before instanceof EnvironmentState.Present had
        && after instanceof EnvironmentState.Present has) {
      List<ShellId> dropped = new ArrayList<>();
      had.shells().forEach(s -> dropped.add(s.identity().id()));
      has.shells().forEach(s -> dropped.remove(s.identity().id()));
      if (!dropped.isEmpty()) {
        shells.forget(dropped);
        work.forgetRows(dropped);
      }
    }
  }
}
