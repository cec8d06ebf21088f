package io.envapi.environment;

import io.envapi.account.Quotas;
import io.envapi.audit.AuditEvent;
import io.envapi.id.EnvironmentId;
import io.envapi.id.ShellId;
import io.envapi.sandbox.Workspace;
import io.envapi.shell.CommandRecord;
import io.envapi.shell.Shell;
import io.envapi.shell.ShellActor;
import io.envapi.shell.ShellEnd;
import io.envapi.shell.ShellIdentity;
import io.envapi.shell.ShellProcess;
import io.envapi.shell.ShellView;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.AskPattern;

/**
 * The shells of one environment, as its actor has them: their actors, by id, and what they are
 * asked.
 */
final class EnvironmentShells {

  private static final Duration ANSWER = Duration.ofSeconds(10);
  private static final Duration CLOSING = Duration.ofSeconds(60);
  private static final int RECENT_COMMANDS = 20;

  /** Shells that have ended and keep their actors. */
  private static final int MOST_ENDED = 20;

  private final ActorContext<Environment.Command> context;
  private final EnvironmentRuntime runtime;
  private final ActorRef<ShellActor.Notice> notices;
  private final Map<ShellId, ActorRef<Shell.Command>> actors = new HashMap<>();
  private final Set<ShellId> awaited = new HashSet<>();

  /** Those of the actors whose shells have ended; the one asked longest ago first. */
  private final LinkedHashSet<ShellId> ended = new LinkedHashSet<>();

  private int spawned;

  EnvironmentShells(
      ActorContext<Environment.Command> context,
      EnvironmentRuntime runtime,
      ActorRef<ShellActor.Notice> notices) {
    this.context = context;
    this.runtime = runtime;
    this.notices = notices;
  }

  /**
   * An id for a spare shell, when one can be started along with {@code wanted}. Who wants a shell
   * for one command, or a second one, will want more; most have one only.
   */
  Optional<ShellId> spare(EnvironmentId environment, WantedShell wanted, int lastStored) {
    boolean wantsMore = wanted.isForOneCommand() || lastStored > 0;
    return wantsMore && runtime.processes().wantsSpare(environment)
        ? Optional.of(
            ShellId.of(environment, runtime.processes().nextNumber(environment, lastStored)))
        : Optional.empty();
  }

  /** The actor of a shell, started where there is none. */
  ActorRef<Shell.Command> actor(ShellRecord shell, Workspace workspace) {
    ActorRef<Shell.Command> actor =
        actors.computeIfAbsent(
            shell.identity().id(),
            id ->
                context.spawn(
                    ShellActor.create(
                        spec(shell, workspace), runtime.processes(), runtime.shells(), notices),
                    // The one before may not have stopped yet.
                    id.value() + "-" + ++spawned));
    if (!shell.isRunning()) {
      ended(shell.identity().id());
    }
    return actor;
  }

  /**
   * A shell has ended, or one that has was asked something. Few of them keep their actors, with all
   * that is in memory of them; the others are told from the journal and the logs.
   */
  void ended(ShellId shell) {
    ended.remove(shell);
    if (actors.containsKey(shell)) {
      ended.add(shell);
    }
    if (ended.size() > MOST_ENDED) {
      Optional.ofNullable(actors.remove(ended.removeFirst())).ifPresent(this::retire);
    }
  }

  /** Has an actor stopped when it has answered all that it was asked. */
  private void retire(ActorRef<Shell.Command> actor) {
    context.pipeToSelf(
        this.<Shell.DescribeReply>ask(actor, Shell.Describe::new),
        (_, _) -> new EnvironmentNotices.Retired(actor));
  }

  private static ShellActor.Spec spec(ShellRecord shell, Workspace workspace) {
    return new ShellActor.Spec(shell.identity(), workspace.logs(), shell.end());
  }

  /** A shell that has not been asked anything. */
  private static ShellView opened(ShellRecord shell) {
    return new ShellView(
        shell.identity(),
        ShellView.State.RUNNING,
        Optional.empty(),
        shell.identity().createdAt(),
        Optional.empty(),
        0,
        0);
  }

  ShellRecord record(ShellProcess process, String cwd, long now) {
    var started = process.started();
    return new ShellRecord(
        new ShellIdentity(
            process.id(),
            started.process(),
            started.shell(),
            started.pgid(),
            cwd,
            process.hasTerminal(),
            now),
        Optional.empty(),
        0);
  }

  /** Gives a new shell its actor and answers the caller who wanted it. */
  void begin(ShellRecord record, Workspace workspace, WantedShell wanted) {
    ActorRef<Shell.Command> shell =
        context.spawn(
            ShellActor.createNew(
                spec(record, workspace), runtime.processes(), runtime.shells(), notices),
            record.identity().id().value());
    actors.put(record.identity().id(), shell);
    switch (wanted) {
      case WantedShell.ForCaller(var open) ->
          open.replyTo().tell(new Environment.Opened(opened(record)));
      case WantedShell.ForOnce(var run) -> new OneShot(context.getSystem(), shell).run(run);
    }
  }

  /** The running shells whose process an earlier service had: each will report its end. */
  List<ShellId> lost(List<ShellRecord> running) {
    return running.stream()
        .map(s -> s.identity().id())
        .filter(id -> runtime.processes().find(id).isEmpty())
        .toList();
  }

  void awaitEndOf(List<ShellId> lost) {
    awaited.addAll(lost);
  }

  boolean awaitsEnd() {
    return !awaited.isEmpty();
  }

  /** Whether {@code ended} was the last whose end was awaited. */
  boolean lastAwaitedEnd(ShellId ended) {
    return awaited.remove(ended) && awaited.isEmpty();
  }

  /** Views of all shells, oldest first; those that ended are told from their records. */
  CompletionStage<List<ShellView>> views(EnvironmentState.Present present, Workspace workspace) {
    List<CompletionStage<ShellView>> views =
        present.shells().stream()
            .map(s -> s.end().map(e -> told(s, e)).orElseGet(() -> asked(s, workspace)))
            .toList();
    return all(views);
  }

  private static CompletionStage<ShellView> told(ShellRecord shell, ShellEnd end) {
    return CompletableFuture.completedStage(
        new ShellView(
            shell.identity(),
            end.state(),
            Optional.of(end.reason()),
            end.at(),
            Optional.empty(),
            end.cursor(),
            end.commandsRun()));
  }

  private CompletionStage<ShellView> asked(ShellRecord shell, Workspace workspace) {
    return this.<Shell.DescribeReply>ask(actor(shell, workspace), Shell.Describe::new)
        .thenApply(
            reply ->
                switch (reply) {
                  case Shell.Described(var view) -> view;
                  case Shell.Refused _ -> throw new IllegalStateException("a shell has no view");
                });
  }

  CompletionStage<Environment.SummaryReply> summary(
      EnvironmentState.Present present,
      Workspace workspace,
      EnvironmentView environment,
      EnvironmentWork work) {
    var processes = CompletableFuture.supplyAsync(work::processes, runtime.shells().blocking());
    var commands = recent(present, workspace).toCompletableFuture();
    return views(present, workspace)
        .thenCombine(
            CompletableFuture.allOf(processes, commands),
            (views, done) ->
                new Environment.Summary(environment, views, processes.join(), commands.join()));
  }

  private CompletionStage<List<CommandRecord>> recent(
      EnvironmentState.Present present, Workspace workspace) {
    List<ShellRecord> shells = present.shells();
    List<CompletionStage<List<CommandRecord>>> asked =
        shells.subList(Math.max(0, shells.size() - RECENT_COMMANDS), shells.size()).stream()
            .map(s -> commands(actor(s, workspace)))
            .toList();
    return all(asked)
        .thenApply(
            lists ->
                lists.stream()
                    .flatMap(List::stream)
                    .sorted(Comparator.comparingLong(CommandRecord::startedAt).reversed())
                    .limit(RECENT_COMMANDS)
                    .toList());
  }

  /** What a shell remembers of its commands, oldest first. */
  CompletionStage<List<CommandRecord>> history(ShellRecord shell, Workspace workspace) {
    return commands(actor(shell, workspace)).thenApply(List::reversed);
  }

  private CompletionStage<List<CommandRecord>> commands(ActorRef<Shell.Command> shell) {
    return this.<Shell.CommandsReply>ask(shell, Shell.ListCommands::new)
        .thenApply(
            reply ->
                switch (reply) {
                  case Shell.Commands(var commands) -> commands.reversed();
                  case Shell.Refused _ -> List.of();
                });
  }

  /** Closes the shells that nobody has used for their time; a running command is use. */
  CompletionStage<Void> reapIdle(
      EnvironmentState.Present present, Workspace workspace, Quotas quotas) {
    double ttlSeconds = present.spec().choices().shellIdleTtlSeconds(quotas);
    long oldest = System.currentTimeMillis() - (long) (ttlSeconds * 1000);
    List<CompletionStage<Shell.CloseReply>> reaped =
        present.running().stream()
            .map(
                s ->
                    close(actor(s, workspace), false, OptionalLong.of(oldest))
                        .whenComplete((reply, _) -> note(present, s.identity().id(), reply)))
            .toList();
    return all(reaped).thenApply(done -> null);
  }

  private void note(EnvironmentState.Present present, ShellId id, Shell.CloseReply reply) {
    if (reply instanceof Shell.Closed) {
      runtime
          .audit()
          .note(
              AuditEvent.of("shell.reap", present.account())
                  .with("environment_id", id.environment().value())
                  .with("shell_id", id.value()));
    }
  }

  /** Ends all running shells at once. */
  CompletableFuture<Void> closeAll(EnvironmentState.Present present, Workspace workspace) {
    List<CompletableFuture<Shell.CloseReply>> closing =
        present.running().stream()
            .map(s -> close(actor(s, workspace), true).toCompletableFuture())
            .toList();
    return CompletableFuture.allOf(closing.toArray(CompletableFuture[]::new));
  }

  /** Ends all shells that have an actor at once. */
  CompletableFuture<Void> killAll() {
    List<CompletableFuture<Shell.CloseReply>> closing =
        actors.values().stream().map(s -> close(s, true).toCompletableFuture()).toList();
    return CompletableFuture.allOf(closing.toArray(CompletableFuture[]::new));
  }

  private CompletionStage<Shell.CloseReply> close(ActorRef<Shell.Command> shell, boolean atOnce) {
    return close(shell, atOnce, OptionalLong.empty());
  }

  private CompletionStage<Shell.CloseReply> close(
      ActorRef<Shell.Command> shell, boolean atOnce, OptionalLong unusedSince) {
    return AskPattern.ask(
        shell,
        replyTo -> new Shell.Close(atOnce, unusedSince, replyTo),
        CLOSING,
        context.getSystem().scheduler());
  }

  /** Stops the actors of all shells; their ids are unknown from now on. */
  void forget() {
    actors.values().forEach(context::stop);
    actors.clear();
    ended.clear();
    awaited.clear();
  }

  /** Stops the actors of these shells. */
  void forget(List<ShellId> shells) {
    for (ShellId shell : shells) {
      ActorRef<Shell.Command> actor = actors.remove(shell);
      if (actor != null) {
        context.stop(actor);
      }
      ended.remove(shell);
      awaited.remove(shell);
    }
  }

  private <R> CompletionStage<R> ask(
      ActorRef<Shell.Command> shell, Function<ActorRef<R>, Shell.Command> request) {
    return AskPattern.ask(shell, request::apply, ANSWER, context.getSystem().scheduler());
  }

  private static <T> CompletionStage<List<T>> all(List<CompletionStage<T>> stages) {
    CompletableFuture<?>[] futures =
        stages.stream().map(CompletionStage::toCompletableFuture).toArray(CompletableFuture[]::new);
    return CompletableFuture.allOf(futures)
        .thenApply(
            done -> {
              List<T> values = new ArrayList<>();
              stages.forEach(s -> values.add(s.toCompletableFuture().join()));
              return values;
            });
  }
}
