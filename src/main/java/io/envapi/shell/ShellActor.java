package io.envapi.shell;

import io.envapi.Supervised;
import io.envapi.Unanswered;
import io.envapi.failure.Failure;
import io.envapi.id.CommandId;
import io.envapi.id.ShellId;
import io.envapi.linux.ExitStatus;
import io.envapi.process.ProcFs;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.PreRestart;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.persistence.typed.PersistenceId;
import org.apache.pekko.persistence.typed.RecoveryCompleted;
import org.apache.pekko.persistence.typed.javadsl.CommandHandlerWithReply;
import org.apache.pekko.persistence.typed.javadsl.EventHandler;
import org.apache.pekko.persistence.typed.javadsl.EventSourcedBehaviorWithEnforcedReplies;
import org.apache.pekko.persistence.typed.javadsl.Recovery;
import org.apache.pekko.persistence.typed.javadsl.ReplyEffect;
import org.apache.pekko.persistence.typed.javadsl.RetentionCriteria;
import org.apache.pekko.persistence.typed.javadsl.SignalHandler;

/**
 * One shell: takes its commands one at a time, knows how each ended, and remembers them.
 *
 * <p>The start of a command is stored before the shell sees it, its end before anybody is told. The
 * process itself belongs to {@link ShellProcesses}; a restarted actor takes it up again, and one
 * that finds no process ends what the journal says is running.
 */
public final class ShellActor
    extends EventSourcedBehaviorWithEnforcedReplies<Shell.Command, ShellEvent, ShellState> {

  private static final Duration KILL_ROUND = Duration.ofMillis(50);
  private static final int KILL_ROUNDS = 20;
  private static final Duration QUIET = Duration.ofSeconds(1);

  /** What the actor tells itself. */
  sealed interface Internal extends Shell.Command {}

  private record CommandEnded(CommandId id, CommandEnd end) implements Internal {}

  /** {@code reason} is empty for a process that nobody saw end. */
  private record ProcessGone(Optional<ExitStatus> status) implements Internal {}

  private record WaitOver(ShellWaiters.Waiter waiter) implements Internal {}

  private record Deadline(CommandId id) implements Internal {}

  private record KillRound(CommandId id, long sinceTicks, int round) implements Internal {}

  private record QuietCheck(CommandId id, long outputEnd, boolean asked) implements Internal {}

  private record OutputArrived() implements Internal {}

  private record Done() implements Internal {}

  /** What a shell tells its environment. */
  public sealed interface Notice {}

  /** The shell is gone for good. */
  public record Ended(ShellIdentity shell, ShellEnd end) implements Notice {}

  /** A command of the shell started or ended. */
  public record Happened(ShellIdentity shell, ShellEvent event) implements Notice {}

  /** What an actor that started knows of the shell's commands, oldest first. */
  public record Remembered(ShellIdentity shell, List<CommandRecord> commands) implements Notice {
    public Remembered {
      commands = List.copyOf(commands);
    }
  }

  /**
   * A shell to be run or remembered.
   *
   * @param end how it ended, when it did
   */
  public record Spec(ShellIdentity identity, Path logs, Optional<ShellEnd> end) {}

  private record Self(ActorContext<Shell.Command> context, Unanswered unanswered) {}

  private final ActorContext<Shell.Command> context;
  private final Unanswered unanswered;
  private final Spec spec;
  private final ShellRuntime runtime;
  private final ActorRef<Notice> environment;
  private final boolean isNew;
  private final Optional<ShellProcess> process;
  private final ShellLife life;
  private final ShellAnswers answers;
  private final ShellWaiters waiters = new ShellWaiters();

  public static Behavior<Shell.Command> create(
      Spec spec, ShellProcesses processes, ShellRuntime runtime, ActorRef<Notice> environment) {
    return create(spec, processes, runtime, environment, false);
  }

  /** A shell that was opened just now: the journal has nothing of it to be read. */
  public static Behavior<Shell.Command> createNew(
      Spec spec, ShellProcesses processes, ShellRuntime runtime, ActorRef<Notice> environment) {
    return create(spec, processes, runtime, environment, true);
  }

  private static Behavior<Shell.Command> create(
      Spec spec,
      ShellProcesses processes,
      ShellRuntime runtime,
      ActorRef<Notice> environment,
      boolean isNew) {
    var firstStart = new AtomicBoolean(isNew);
    return Supervised.restarting(
        unanswered ->
            Behaviors.setup(
                context ->
                    new ShellActor(
                        new Self(context, unanswered),
                        spec,
                        processes,
                        runtime,
                        environment,
                        firstStart.getAndSet(false))));
  }

  public static PersistenceId persistenceId(ShellId id) {
    return PersistenceId.of("Shell", id.value());
  }

  private ShellActor(
      Self self,
      Spec spec,
      ShellProcesses processes,
      ShellRuntime runtime,
      ActorRef<Notice> environment,
      boolean isNew) {
    super(persistenceId(spec.identity().id()));
    this.context = self.context();
    this.unanswered = self.unanswered();
    this.spec = spec;
    this.process = processes.find(spec.identity().id());
    this.runtime = runtime;
    this.environment = environment;
    this.isNew = isNew;
    this.life =
        new ShellLife(
            spec.end(), spec.identity().createdAt(), processes.fate(spec.identity().id()));
    this.answers =
        new ShellAnswers(spec.identity(), spec.logs(), process, life, runtime.blocking());
  }

  @Override
  public Recovery recovery() {
    return isNew ? Recovery.disabled() : super.recovery();
  }

  @Override
  public ShellState emptyState() {
    return ShellState.EMPTY;
  }

  @Override
  public RetentionCriteria retentionCriteria() {
    return RetentionCriteria.snapshotEvery(200, 1).withDeleteEventsOnSnapshot();
  }

  @Override
  public EventHandler<ShellState, ShellEvent> eventHandler() {
    return ShellState::with;
  }

  @Override
  public SignalHandler<ShellState> signalHandler() {
    return newSignalHandlerBuilder()
        .onSignal(RecoveryCompleted.instance(), this::recovered)
        .onSignal(PreRestart.class, (state, signal) -> answerWaiting(state))
        .build();
  }

  @Override
  public CommandHandlerWithReply<Shell.Command, ShellEvent, ShellState> commandHandler() {
    return this::onCommand;
  }

  private ReplyEffect<ShellEvent, ShellState> onCommand(ShellState state, Shell.Command command) {
    unanswered.handled(command);
    return switch (command) {
      case Shell.Exec exec -> onExec(state, exec);
      case Shell.Request request -> {
        onRequest(state, request);
        yield Effect().noReply();
      }
      case CommandEnded(var id, var how) -> onEnded(state, id, how);
      case ProcessGone(var status) -> onGone(state, status);
      case Internal internal -> {
        onInternal(state, internal);
        yield Effect().noReply();
      }
    };
  }

  /** Requests that store nothing. */
  private void onRequest(ShellState state, Shell.Request request) {
    switch (request) {
      case Shell.Exec _ -> throw new IllegalStateException("exec stores events");
      case Shell.Describe(var replyTo) -> replyTo.tell(new Shell.Described(answers.view(state)));
      case Shell.ListCommands list -> answers.commands(state, list);
      case Shell.ReadOutput read -> onReadOutput(state, read);
      case Shell.Follow follow -> onFollow(state, follow);
      case Shell.ReadResult read -> answers.result(state, read);
      case Shell.ReadCommand read -> answers.command(state, read);
      case Shell.Await await -> onAwait(state, await);
      case Shell.SignalBelow signal -> answers.signal(signal);
      case Shell.WriteStdin write -> answers.stdin(write);
      case Shell.Resize resize -> answers.resize(resize);
      case Shell.ListProcesses list -> answers.processes(list);
      case Shell.Close close -> onClose(state, close);
    }
  }

  private void onInternal(ShellState state, Internal message) {
    switch (message) {
      case CommandEnded _, ProcessGone _ -> throw new IllegalStateException("ends store events");
      case WaitOver(var waiter) -> {
        if (waiters.remove(waiter)) {
          answers.waited(state, waiter);
        }
      }
      case Deadline(var id) -> onDeadline(state, id);
      case KillRound round -> onKillRound(state, round);
      case QuietCheck check -> onQuietCheck(state, check);
      case OutputArrived() -> waiters.takeOutput().forEach(w -> answers.waited(state, w));
      case Done() -> {}
    }
  }

  // --- commands ---

  private ReplyEffect<ShellEvent, ShellState> onExec(ShellState state, Shell.Exec exec) {
    if (life.isClosing() || process.isEmpty()) {
      return Effect().reply(exec.replyTo(), new Shell.Refused(new Failure.ShellNotRunning()));
    }
    if (state.running().isPresent()) {
      String running = state.running().get().id().value();
      return Effect().reply(exec.replyTo(), new Shell.Refused(new Failure.ShellBusy(running)));
    }
    ShellProcess shell = process.get();
    CommandId id = CommandId.of(spec.identity().id(), state.lastNumber() + 1);
    ShellOutput.Prepared prepared = shell.output().prepare(id, exec.logCap());
    var started =
        new ShellEvent.CommandStarted(
            id,
            exec.command(),
            now(),
            prepared.outputStart(),
            exec.timeoutMs(),
            exec.secrets().keySet().stream().sorted().toList(),
            exec.missing());
    unanswered.hold(exec);
    return Effect()
        .persist(started)
        .thenRun(
            (ShellState next) -> {
              unanswered.handled(exec);
              begin(next, shell, prepared, started, exec);
            })
        .thenNoReply();
  }

  private void begin(
      ShellState state,
      ShellProcess shell,
      ShellOutput.Prepared prepared,
      ShellEvent.CommandStarted started,
      Shell.Exec exec) {
    CommandId id = started.id();
    life.used(started.startedAt());
    follow(prepared.end(), id);
    shell.execute(
        exec.subshell() ? Script.subshell(exec.command()) : exec.command(),
        variables(shell, exec.secrets()));
    exec.timeoutMs().ifPresent(ms -> later(Duration.ofMillis(ms), new Deadline(id)));
    later(QUIET, new QuietCheck(id, shell.output().ring().end(), false));
    environment.tell(new Happened(spec.identity(), started));
    waiters.takeFollowers().forEach(w -> answers.waited(state, w));
    waitOrAnswer(state, new ShellWaiters.ForExec(exec, id), exec.waitMs());
  }

  /** The variables of all services; their values are redacted from now on. */
  private static Map<String, String> variables(
      ShellProcess shell, Map<String, Map<String, String>> secrets) {
    Map<String, String> variables = new LinkedHashMap<>();
    secrets.forEach(
        (service, values) -> {
          values
              .values()
              .forEach(value -> shell.output().redact(service, value.getBytes(StandardCharsets.UTF_8)));
          variables.putAll(values);
        });
    return variables;
  }

  private void follow(CompletionStage<CommandEnd> end, CommandId id) {
    tellSelf(end, how -> new CommandEnded(id, how));
  }

  private ReplyEffect<ShellEvent, ShellState> onEnded(
      ShellState state, CommandId id, CommandEnd how) {
    if (!isRunning(state, id)) {
      return Effect().noReply();
    }
    noteFate();
    CommandEnds.Cause cause = life.cause(id, how.mayBeOutOfMemory() && outOfMemory());
    return finish(CommandEnds.event(id, how, cause, now()), how.shellStatus());
  }

  /** What ended the shell is neither a caller's wish nor its own doing. */
  private void noteFate() {
    process.flatMap(ShellProcess::fate).ifPresent(life::killedFor);
  }

  private boolean outOfMemory() {
    return process.map(p -> p.started().members().outOfMemory()).orElse(false);
  }

  /**
   * {@code shell} is how the shell itself ended, if it did: nobody hears of one before the other.
   */
  private ReplyEffect<ShellEvent, ShellState> finish(
      ShellEvent.CommandFinished finished, Optional<ExitStatus> shell) {
    return Effect()
        .persist(finished)
        .thenRun(
            (ShellState next) -> {
              life.finished(finished.id(), finished.finishedAt());
              runtime.meter().ended(finished.reason());
              environment.tell(new Happened(spec.identity(), finished));
              shell.ifPresent(status -> ended(next, Optional.of(status)));
              waiters.takeForEnd().forEach(w -> answers.waited(next, w));
            })
        .thenNoReply();
  }

  private void onDeadline(ShellState state, CommandId id) {
    if (isRunning(state, id)) {
      life.timedOut(id);
      long since = ProcFs.ticksAt(state.running().get().startedAt());
      context.getSelf().tell(new KillRound(id, since, 0));
    }
  }

  /** A script goes on with its next line when a child dies, so one round is not enough. */
  private void onKillRound(ShellState state, KillRound round) {
    if (!isRunning(state, round.id()) || process.isEmpty()) {
      return;
    }
    ShellProcess shell = process.get();
    if (round.round() == KILL_ROUNDS || shell.replaced()) {
      inBackground(shell::kill);
    } else {
      inBackground(() -> shell.killCommand(round.sinceTicks()));
      later(KILL_ROUND, new KillRound(round.id(), round.sinceTicks(), round.round() + 1));
    }
  }

  private void onQuietCheck(ShellState state, QuietCheck check) {
    if (!isRunning(state, check.id()) || process.isEmpty()) {
      return;
    }
    ShellProcess shell = process.get();
    long outputEnd = shell.output().ring().end();
    if (outputEnd != check.outputEnd() || !shell.asksForNextLine()) {
      later(QUIET, new QuietCheck(check.id(), outputEnd, false));
    } else if (!check.asked()) {
      later(QUIET, new QuietCheck(check.id(), outputEnd, true));
    } else {
      life.killedFor(CommandEnds.FRAME_LOST);
      inBackground(shell::kill);
    }
  }

  private static boolean isRunning(ShellState state, CommandId id) {
    return state.running().filter(c -> c.id().equals(id)).isPresent();
  }

  // --- the end of the shell ---

  private void recovered(ShellState state) {
    if (!state.history().isEmpty()) {
      environment.tell(new Remembered(spec.identity(), state.history()));
    }
    if (process.isPresent()) {
      ShellProcess shell = process.get();
      shell.output().onOutput(this::outputArrived);
      tellSelf(shell.gone(), status -> new ProcessGone(Optional.of(status)));
      state.running().ifPresent(c -> takeUp(shell, c));
    } else {
      if (state.running().isPresent()) {
        // The end of the command is stored before that of the shell is told.
        context.getSelf().tell(new ProcessGone(life.seenEnd()));
      } else if (!life.isOver()) {
        ended(state, life.seenEnd());
      }
    }
  }

  /** Called by the thread that reads the output. */
  private void outputArrived() {
    if (waiters.wantsOutput()) {
      context.getSelf().tell(new OutputArrived());
    }
  }

  private void takeUp(ShellProcess shell, CommandRecord command) {
    CommandId id = command.id();
    shell.output().end(id).ifPresent(end -> follow(end, id));
    later(QUIET, new QuietCheck(id, shell.output().ring().end(), false));
    command
        .timeoutMs()
        .map(ms -> Duration.ofMillis(Math.max(0, command.startedAt() + ms - now())))
        .ifPresent(left -> later(left, new Deadline(id)));
  }

  private ReplyEffect<ShellEvent, ShellState> onGone(
      ShellState state, Optional<ExitStatus> status) {
    noteFate();
    if (state.running().isEmpty()) {
      ended(state, status);
      return Effect().noReply();
    }
    CommandRecord running = state.running().get();
    long logged = CommandLog.size(spec.logs(), running.id());
    var lost = CommandEnds.lost(running, life.endReason(status), now(), logged);
    return Effect()
        .persist(lost)
        .thenRun(
            (ShellState next) -> {
              runtime.meter().ended(lost.reason());
              environment.tell(new Happened(spec.identity(), lost));
              ended(next, status);
            })
        .thenNoReply();
  }

  private void ended(ShellState state, Optional<ExitStatus> status) {
    if (!life.isOver()) {
      noteFate();
      var over =
          new ShellEnd(
              life.endState(),
              life.endReason(status),
              now(),
              answers.outputEnd(state),
              state.history().size());
      life.over(over);
      environment.tell(new Ended(spec.identity(), over));
    }
    waiters.takeAll().forEach(w -> answers.waited(state, w));
  }

  private void onClose(ShellState state, Shell.Close close) {
    if (life.isOver() || process.isEmpty()) {
      close.replyTo().tell(new Shell.Closed(answers.view(state)));
      return;
    }
    waiters.add(new ShellWaiters.ForClose(close));
    if (!life.isClosing()) {
      life.closing();
      ShellProcess shell = process.get();
      inBackground(
          close.atOnce() ? shell::kill : () -> shell.terminate(runtime.settings().closeGrace()));
    }
  }

  // --- waiting ---

  /** What they wait for has begun and goes on, so they are told how far it is. */
  private void answerWaiting(ShellState state) {
    waiters.takeForEnd().forEach(w -> answers.waited(state, w));
    for (ShellWaiters.Waiter left : waiters.takeAll()) {
      if (left instanceof ShellWaiters.ForClose(var close)) {
        close.refuse(new Failure.HostUnavailable(2));
      }
    }
  }

  private void onReadOutput(ShellState state, Shell.ReadOutput read) {
    var waiter = new ShellWaiters.ForOutput(read);
    boolean wait =
        !life.isOver() && state.running().isPresent() && answers.outputEnd(state) <= read.cursor();
    waitOrAnswer(state, waiter, wait ? read.waitMs() : 0);
    if (wait && answers.outputEnd(state) > read.cursor()) {
      // It came before the reader of the output could know that somebody waits.
      context.getSelf().tell(new OutputArrived());
    }
  }

  private void onFollow(ShellState state, Shell.Follow follow) {
    boolean wait =
        !life.isOver()
            && follow.mark() >= state.mark()
            && answers.followable(state) <= follow.cursor();
    waitOrAnswer(state, new ShellWaiters.ForNews(follow), wait ? follow.waitMs() : 0);
    if (wait && answers.followable(state) > follow.cursor()) {
      context.getSelf().tell(new OutputArrived());
    }
  }

  private void onAwait(ShellState state, Shell.Await await) {
    boolean idle = life.isOver() || state.running().isEmpty();
    waitOrAnswer(state, new ShellWaiters.ForIdle(await), idle ? 0 : await.timeoutMs());
  }

  private void waitOrAnswer(ShellState state, ShellWaiters.Waiter waiter, long waitMs) {
    if (waitMs == 0) {
      answers.waited(state, waiter);
      return;
    }
    waiters.add(waiter);
    waiters.timer(
        waiter,
        context.scheduleOnce(Duration.ofMillis(waitMs), context.getSelf(), new WaitOver(waiter)));
  }

  private void later(Duration delay, Internal message) {
    context.scheduleOnce(delay, context.getSelf(), message);
  }

  private <T> void tellSelf(CompletionStage<T> future, Function<T, Internal> message) {
    context.pipeToSelf(
        future, (value, failure) -> failure == null ? message.apply(value) : new Done());
  }

  /** For work that waits for processes. */
  private void inBackground(Runnable work) {
    context.pipeToSelf(
        CompletableFuture.runAsync(work, runtime.waiting()), (done, failure) -> new Done());
  }

  private static long now() {
    return System.currentTimeMillis();
  }
}
