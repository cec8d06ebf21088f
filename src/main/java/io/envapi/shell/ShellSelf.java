package io.envapi.shell;

import io.envapi.Unanswered;
import io.envapi.id.ShellId;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.apache.pekko.actor.Cancellable;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.persistence.typed.javadsl.EffectFactories;

/**
 * What the parts of a shell's actor share, and use on its thread.
 *
 * @param process empty where this service does not have it
 */
record ShellSelf(
    ShellActor.Spec spec,
    ActorContext<Shell.Command> context,
    Unanswered unanswered,
    ShellRuntime runtime,
    ActorRef<ShellActor.Notice> environment,
    Optional<ShellProcess> process,
    ShellLife life,
    ShellAnswers answers,
    EffectFactories<ShellEvent, ShellState> effects) {

  ShellId id() {
    return spec.identity().id();
  }

  /** Tells the environment of a command that started or ended. */
  void tellHappened(ShellEvent event) {
    environment.tell(new ShellActor.Happened(spec.identity(), event));
  }

  /** What ended the shell is neither a caller's wish nor its own doing. */
  void noteFate() {
    process.flatMap(ShellProcess::fate).ifPresent(life::killedFor);
  }

  /** Whether the kernel ended a command, or its shell, for want of memory. */
  boolean outOfMemory(CommandEnd how) {
    return how.mayBeOutOfMemory()
        && process.map(p -> p.started().members().outOfMemory()).orElse(false);
  }

  Cancellable later(Duration delay, ShellActor.Internal message) {
    return context.scheduleOnce(delay, context.getSelf(), message);
  }

  <T> void tellSelf(CompletionStage<T> future, Function<T, ShellActor.Internal> message) {
    context.pipeToSelf(
        future, (value, failure) -> failure == null ? message.apply(value) : new ShellActor.Done());
  }

  /** For work that waits for processes. */
  void inBackground(Runnable work) {
    context.pipeToSelf(
        CompletableFuture.runAsync(work, runtime.waiting()),
        (done, failure) -> new ShellActor.Done());
  }
}
