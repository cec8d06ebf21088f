package io.envapi.environment;

import io.envapi.account.Quotas;
import io.envapi.failure.Failure;
import io.envapi.id.EnvironmentId;
import io.envapi.sandbox.Workspace;
import io.envapi.shell.Shell;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import org.apache.pekko.actor.typed.ActorRef;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What an environment answers without storing anything. Used by its actor alone, on the actor's
 * thread; what blocks runs elsewhere and answers from there.
 */
final class EnvironmentAnswers {

  private static final Logger LOG = LoggerFactory.getLogger(EnvironmentAnswers.class);

  private static final Failure BUSY = new Failure.HostUnavailable(5);

  private final EnvironmentId id;
  private final EnvironmentLife life;
  private final EnvironmentShells shells;
  private final EnvironmentWork work;
  private final Executor blocking;
  private final FileThreads threads;
  private final LongConsumer measured;

  /** Made when first needed: whose it is, only the environment's state says. */
  private Optional<FileTurns> turns = Optional.empty();

  /**
   * @param measured takes what a caller had measured (bytes), on any thread
   */
  EnvironmentAnswers(
      EnvironmentId id,
      EnvironmentLife life,
      EnvironmentShells shells,
      EnvironmentWork work,
      Executor blocking,
      FileThreads threads,
      LongConsumer measured) {
    this.id = id;
    this.life = life;
    this.shells = shells;
    this.work = work;
    this.blocking = blocking;
    this.threads = threads;
    this.measured = measured;
  }

  void toShell(EnvironmentState.Present present, Environment.ToShell toShell) {
    Optional<ShellRecord> found = present.shell(toShell.shell());
    if (found.isEmpty()) {
      toShell.refuse(toShell.notFound(id));
      return;
    }
    if (toShell.request() instanceof Shell.Exec) {
      Optional<Failure> full = life.overDisk(toShell.quotas());
      if (full.isPresent()) {
        toShell.refuse(full.get());
        return;
      }
    }
    if (isUse(toShell.request())) {
      use();
    }
    shells.actor(found.get(), life.workspace()).tell(toShell.request());
  }

  /** Looking at a shell keeps no environment alive. */
  private static boolean isUse(Shell.Request request) {
    return switch (request) {
      case Shell.Exec _, Shell.WriteStdin _, Shell.SignalBelow _, Shell.Resize _ -> true;
      case Shell.Describe _,
          Shell.ReadOutput _,
          Shell.Follow _,
          Shell.ReadResult _,
          Shell.ReadCommand _,
          Shell.ListCommands _,
          Shell.Await _,
          Shell.ListProcesses _,
          Shell.Close _ ->
          false;
    };
  }

  void summary(EnvironmentState.Present present, Environment.Summarise request) {
    answer(
        request,
        shells.summary(present, life.workspace(), life.view(present), work),
        request.replyTo());
  }

  void usage(EnvironmentState.Present present, Environment.MeasureUsage request) {
    if (turns(present).isFull()) {
      request.refuse(BUSY);
      return;
    }
    Workspace place = life.workspace();
    Quotas quotas = request.quotas();
    CompletionStage<Environment.Usage> usage =
        later(turns(present).all(), () -> work.usage(present, place, quotas))
            .thenApply(
                used -> {
                  measured.accept(used.workspaceBytes() + used.logsBytes());
                  return new Environment.Usage(used);
                });
    answer(request, usage, request.replyTo());
  }

  void shells(EnvironmentState.Present present, Environment.ListShells request) {
    answer(
        request,
        shells.views(present, life.workspace()).thenApply(Environment.Shells::new),
        request.replyTo());
  }

  void processes(Environment.ListProcesses request) {
    answer(
        request,
        later(blocking, work::processes).thenApply(Environment.Processes::new),
        request.replyTo());
  }

  void signal(Environment.SignalProcess request) {
    use();
    answer(request, later(blocking, () -> work.signal(request)), request.replyTo());
  }

  void file(EnvironmentState.Present present, Environment.RunFile request) {
    Optional<Failure> refusal = refusesFiles(present);
    if (refusal.isPresent()) {
      request.refuse(refusal.get());
      return;
    }
    use();
    Workspace place = life.workspace();
    answer(
        request,
        later(turns(present).of(request.operation()), () -> work.runFile(place, request)),
        request.replyTo());
  }

  void transfer(EnvironmentState.Present present, Environment.Transfer request) {
    Optional<Failure> refusal = refusesFiles(present);
    if (refusal.isPresent()) {
      request.refuse(refusal.get());
      return;
    }
    use();
    Workspace place = life.workspace();
    answer(
        request,
        later(turns(present).all(), () -> work.transfer(place, request)),
        request.replyTo());
  }

  private Optional<Failure> refusesFiles(EnvironmentState.Present present) {
    if (present.isArchived()) {
      return Optional.of(new Failure.EnvironmentArchived());
    }
    return turns(present).isFull() ? Optional.of(BUSY) : Optional.empty();
  }

  private void use() {
    life.used(System.currentTimeMillis());
  }

  private FileTurns turns(EnvironmentState.Present present) {
    FileTurns own = turns.orElseGet(() -> threads.of(present.account()));
    turns = Optional.of(own);
    return own;
  }

  private static <T> CompletionStage<T> later(Executor threads, Supplier<T> task) {
    return CompletableFuture.supplyAsync(task, threads);
  }

  /** Answers with the value to come; what breaks on the way is a bug, and is answered as one. */
  private <R> void answer(
      Environment.Request request, CompletionStage<? extends R> value, ActorRef<R> replyTo) {
    value.whenComplete(
        (reply, failure) -> {
          if (failure == null) {
            replyTo.tell(reply);
          } else {
            LOG.error("a request to {} broke", id, failure);
            request.refuse(new Failure.Internal());
          }
        });
  }
}
