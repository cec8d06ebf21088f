package io.envapi.shell;

import static java.util.function.Predicate.not;

import io.envapi.failure.Failure;
import io.envapi.failure.Result;
import io.envapi.id.CommandId;
import io.envapi.linux.ExitStatus;
import io.envapi.linux.Pty;
import io.envapi.linux.Signal;
import io.envapi.process.ProcFs;
import io.envapi.process.ProcessInfo;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.SupervisorStrategy;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.persistence.typed.PersistenceId;
import org.apache.pekko.persistence.typed.RecoveryCompleted;
import org.apache.pekko.persistence.typed.javadsl.CommandHandlerWithReply;
import org.apache.pekko.persistence.typed.javadsl.EventHandler;
import org.apache.pekko.persistence.typed.javadsl.EventSourcedBehaviorWithEnforcedReplies;
import org.apache.pekko.persistence.typed.javadsl.ReplyEffect;
import org.apache.pekko.persistence.typed.javadsl.RetentionCriteria;
import org.apache.pekko.persistence.typed.javadsl.SignalHandler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One shell: takes its commands one at a time, knows how each ended, and remembers them.
 *
 * <p>The start of a command is stored before the shell sees it, its end before anybody is told. The
 * process itself belongs to {@link ShellProcesses}; a restarted actor takes it up again, and one
 * that finds no process ends what the journal says is running.
 */
public final class ShellActor
    extends EventSourcedBehaviorWithEnforcedReplies<Shell.Command, ShellEvent, ShellState> {

  private static final Logger LOG = LoggerFactory.getLogger(ShellActor.class);
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

  /**
   * A shell to be run or remembered.
   *
   * @param end how it ended, when it did
   */
  public record Spec(ShellIdentity identity, Path logs, Optional<ShellEnd> end) {}

  private final ActorContext<Shell.Command> context;
  private final Spec spec;
  private final ShellRuntime runtime;
  private final ActorRef<Notice> environment;
  private final ShellWaiters waiters = new ShellWaiters();
  private final Optional<ShellProcess> process;
  private final java.util.Set<CommandId> timedOut = new java.util.HashSet<>();
  private Optional<ShellEnd> end;
  private Optional<String> killedFor = Optional.empty();
  private boolean closing;
  private long lastActivityAt;

  public static Behavior<Shell.Command> create(
      Spec spec, ShellProcesses processes, ShellRuntime runtime, ActorRef<Notice> environment) {
    Behavior<Shell.Command> shell =
        Behaviors.setup(
            context ->
                new ShellActor(
                    context, spec, processes.find(spec.identity().id()), runtime, environment));
    return Behaviors.supervise(shell)
        .onFailure(
            SupervisorStrategy.restartWithBackoff(
                Duration.ofMillis(100), Duration.ofSeconds(10), 0.2));
  }

  public static PersistenceId persistenceId(io.envapi.id.ShellId id) {
    return PersistenceId.of("Shell", id.value());
  }

  private ShellActor(
      ActorContext<Shell.Command> context,
      Spec spec,
      Optional<ShellProcess> process,
      ShellRuntime runtime,
      ActorRef<Notice> environment) {
    super(persistenceId(spec.identity().id()));
    this.context = context;
    this.spec = spec;
    this.process = process;
    this.runtime = runtime;
    this.environment = environment;
    this.end = spec.end();
    this.lastActivityAt = spec.end().map(ShellEnd::at).orElse(spec.identity().createdAt());
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
        .build();
  }

  @Override
  public CommandHandlerWithReply<Shell.Command, ShellEvent, ShellState> commandHandler() {
    return this::onCommand;
  }

  private ReplyEffect<ShellEvent, ShellState> onCommand(ShellState state, Shell.Command command) {
    return switch (command) {
      case Shell.Request request -> onRequest(state, request);
      case Internal internal -> onInternal(state, internal);
    };
  }

  private ReplyEffect<ShellEvent, ShellState> onRequest(ShellState state, Shell.Request request) {
    return switch (request) {
      case Shell.Describe(var replyTo) -> Effect().reply(replyTo, new Shell.Described(view(state)));
      case Shell.Exec exec -> onExec(state, exec);
      case Shell.ReadOutput read -> onReadOutput(state, read);
      case Shell.ReadCommand read -> onReadCommand(state, read);
      case Shell.ListCommands(var replyTo) ->
          Effect()
              .reply(
                  replyTo,
                  new Shell.Commands(state.history().stream().map(this::current).toList()));
      case Shell.Await await -> onAwait(state, await);
      case Shell.SignalBelow signal -> onSignal(signal);
      case Shell.WriteStdin write -> onStdin(write);
      case Shell.Resize resize -> onResize(resize);
      case Shell.ListProcesses list -> onListProcesses(list);
      case Shell.Close close -> onClose(state, close);
    };
  }

  private ReplyEffect<ShellEvent, ShellState> onInternal(ShellState state, Internal message) {
    return switch (message) {
      case CommandEnded(var id, var how) -> onEnded(state, id, how);
      case ProcessGone(var status) -> onGone(state, status);
      case WaitOver(var waiter) -> {
        if (waiters.remove(waiter)) {
          answer(state, waiter);
        }
        yield Effect().noReply();
      }
      case Deadline(var id) -> onDeadline(state, id);
      case KillRound round -> onKillRound(state, round);
      case QuietCheck check -> onQuietCheck(state, check);
      case OutputArrived() -> {
        waiters.takeOutput().forEach(w -> answer(state, w));
        yield Effect().noReply();
      }
      case Done() -> Effect().noReply();
    };
  }

  // --- commands ---

  private ReplyEffect<ShellEvent, ShellState> onExec(ShellState state, Shell.Exec exec) {
    if (end.isPresent() || process.isEmpty() || closing) {
      return Effect().reply(exec.replyTo(), new Shell.Refused(new Failure.ShellNotRunning()));
    }
    if (state.running().isPresent()) {
      String running = state.running().get().id().value();
      return Effect().reply(exec.replyTo(), new Shell.Refused(new Failure.ShellBusy(running)));
    }
    CommandId id = CommandId.of(spec.identity().id(), state.lastNumber() + 1);
    long outputStart = process.get().prepare(id, exec.logCap());
    var started =
        new ShellEvent.CommandStarted(
            id,
            exec.command(),
            now(),
            outputStart,
            exec.timeoutMs(),
            exec.secrets().keySet().stream().sorted().toList(),
            exec.missing());
    return Effect()
        .persist(started)
        .thenRun((ShellState next) -> begin(next, process.get(), id, exec))
        .thenNoReply();
  }

  private void begin(ShellState state, ShellProcess shell, CommandId id, Shell.Exec exec) {
    lastActivityAt = now();
    Map<String, String> variables = new HashMap<>();
    exec.secrets()
        .forEach(
            (service, values) -> {
              values
                  .values()
                  .forEach(
                      v ->
                          shell.redact(
                              service, v.getBytes(java.nio.charset.StandardCharsets.UTF_8)));
              variables.putAll(values);
            });
    follow(shell, id);
    shell.execute(exec.subshell() ? Script.subshell(exec.command()) : exec.command(), variables);
    exec.timeoutMs().ifPresent(ms -> later(Duration.ofMillis(ms), new Deadline(id)));
    later(QUIET, new QuietCheck(id, shell.ring().end(), false));
    environment.tell(new Happened(spec.identity(), started(state, id)));
    waitOrAnswer(state, new ShellWaiters.ForExec(exec, id), exec.waitMs());
  }

  private static ShellEvent started(ShellState state, CommandId id) {
    CommandRecord command = state.find(id).orElseThrow();
    return new ShellEvent.CommandStarted(
        id,
        command.command(),
        command.startedAt(),
        command.outputStart(),
        command.timeoutMs(),
        command.credentialsInjected(),
        command.credentialsMissing());
  }

  private void follow(ShellProcess shell, CommandId id) {
    shell.end(id).ifPresent(f -> tellSelf(f, how -> new CommandEnded(id, how)));
  }

  private ReplyEffect<ShellEvent, ShellState> onEnded(
      ShellState state, CommandId id, CommandEnd how) {
    if (state.running().filter(c -> c.id().equals(id)).isEmpty()) {
      return Effect().noReply();
    }
    return finish(CommandEnds.event(id, how, cause(id), now()));
  }

  private ReplyEffect<ShellEvent, ShellState> finish(ShellEvent.CommandFinished finished) {
    return Effect()
        .persist(finished)
        .thenRun(
            (ShellState next) -> {
              lastActivityAt = finished.finishedAt();
              timedOut.remove(finished.id());
              environment.tell(new Happened(spec.identity(), finished));
              waiters.takeForEnd().forEach(w -> answer(next, w));
            })
        .thenNoReply();
  }

  private CommandEnds.Cause cause(CommandId id) {
    boolean oom = process.map(p -> p.started().members().outOfMemory()).orElse(false);
    return new CommandEnds.Cause(timedOut.contains(id), closing, killedFor(), oom);
  }

  private ReplyEffect<ShellEvent, ShellState> onDeadline(ShellState state, CommandId id) {
    if (isRunning(state, id)) {
      timedOut.add(id);
      long since = ProcFs.ticksAt(state.running().get().startedAt());
      context.getSelf().tell(new KillRound(id, since, 0));
    }
    return Effect().noReply();
  }

  /** A script goes on with its next line when a child dies, so one round is not enough. */
  private ReplyEffect<ShellEvent, ShellState> onKillRound(ShellState state, KillRound round) {
    if (isRunning(state, round.id()) && process.isPresent()) {
      ShellProcess shell = process.get();
      if (round.round() == KILL_ROUNDS || shell.replaced()) {
        onBlocking(shell::kill);
      } else {
        onBlocking(() -> shell.killCommand(round.sinceTicks()));
        later(KILL_ROUND, new KillRound(round.id(), round.sinceTicks(), round.round() + 1));
      }
    }
    return Effect().noReply();
  }

  private ReplyEffect<ShellEvent, ShellState> onQuietCheck(ShellState state, QuietCheck check) {
    if (!isRunning(state, check.id()) || process.isEmpty()) {
      return Effect().noReply();
    }
    ShellProcess shell = process.get();
    long outputEnd = shell.ring().end();
    if (outputEnd != check.outputEnd() || !shell.asksForNextLine()) {
      later(QUIET, new QuietCheck(check.id(), outputEnd, false));
    } else if (!check.asked()) {
      later(QUIET, new QuietCheck(check.id(), outputEnd, true));
    } else {
      killedFor = Optional.of(CommandEnds.FRAME_LOST);
      onBlocking(shell::kill);
    }
    return Effect().noReply();
  }

  private boolean isRunning(ShellState state, CommandId id) {
    return state.running().filter(c -> c.id().equals(id)).isPresent();
  }

  // --- the end of the shell ---

  private void recovered(ShellState state) {
    if (process.isPresent()) {
      ShellProcess shell = process.get();
      shell.onOutput(this::outputArrived);
      tellSelf(shell.gone(), status -> new ProcessGone(Optional.of(status)));
      state.running().ifPresent(c -> takeUp(shell, c.id()));
    } else {
      if (end.isEmpty()) {
        ended(state, Optional.empty());
      }
      if (state.running().isPresent()) {
        context.getSelf().tell(new ProcessGone(Optional.empty()));
      }
    }
  }

  /** Called by the thread that reads the output. */
  private void outputArrived() {
    if (waiters.wantsOutput()) {
      context.getSelf().tell(new OutputArrived());
    }
  }

  private void takeUp(ShellProcess shell, CommandId id) {
    follow(shell, id);
    later(QUIET, new QuietCheck(id, shell.ring().end(), false));
  }

  private ReplyEffect<ShellEvent, ShellState> onGone(
      ShellState state, Optional<ExitStatus> status) {
    if (state.running().isEmpty()) {
      return Effect().none().thenRun((ShellState same) -> ended(same, status)).thenNoReply();
    }
    CommandRecord running = state.running().get();
    long logged = CommandLog.size(spec.logs(), running.id());
    return Effect()
        .persist(CommandEnds.lost(running, endReason(status), now(), logged))
        .thenRun((ShellState next) -> ended(next, status))
        .thenNoReply();
  }

  private void ended(ShellState state, Optional<ExitStatus> status) {
    if (end.isEmpty()) {
      var how = closing ? ShellView.State.CLOSED : ShellView.State.DEAD;
      var over =
          new ShellEnd(how, endReason(status), now(), reader(state).end(), state.history().size());
      end = Optional.of(over);
      lastActivityAt = over.at();
      environment.tell(new Ended(spec.identity(), over));
    }
    waiters.takeAll().forEach(w -> answer(state, w));
  }

  private String endReason(Optional<ExitStatus> status) {
    if (end.isPresent()) {
      return end.get().reason();
    }
    if (closing) {
      return CommandEnds.CLOSED;
    }
    return killedFor().or(() -> status.map(CommandEnds::reason)).orElse(CommandEnds.RESTARTED);
  }

  private Optional<String> killedFor() {
    return killedFor.or(
        () -> process.filter(ShellProcess::endsWithService).map(p -> CommandEnds.RESTARTED));
  }

  private ReplyEffect<ShellEvent, ShellState> onClose(ShellState state, Shell.Close close) {
    if (end.isPresent() || process.isEmpty()) {
      return Effect().reply(close.replyTo(), new Shell.Closed(view(state)));
    }
    waiters.add(new ShellWaiters.ForClose(close));
    if (!closing) {
      closing = true;
      ShellProcess shell = process.get();
      onBlocking(
          close.atOnce() ? shell::kill : () -> shell.terminate(runtime.settings().closeGrace()));
    }
    return Effect().noReply();
  }

  // --- reading, waiting, input ---

  private ReplyEffect<ShellEvent, ShellState> onReadOutput(
      ShellState state, Shell.ReadOutput read) {
    boolean wait =
        read.waitMs() > 0
            && end.isEmpty()
            && state.running().isPresent()
            && reader(state).end() <= read.cursor();
    if (wait) {
      waitOrAnswer(state, new ShellWaiters.ForOutput(read), read.waitMs());
      if (reader(state).end() > read.cursor()) {
        context.getSelf().tell(new OutputArrived());
      }
    } else {
      answer(state, new ShellWaiters.ForOutput(read));
    }
    return Effect().noReply();
  }

  private ReplyEffect<ShellEvent, ShellState> onReadCommand(
      ShellState state, Shell.ReadCommand read) {
    Optional<CommandRecord> found = state.find(read.command()).map(this::current);
    if (found.isEmpty()) {
      read.refuse(new Failure.NotFound(Failure.Kind.COMMAND, read.command().value()));
      return Effect().noReply();
    }
    replyLater(
        read,
        read.replyTo(),
        () -> {
          var output = CommandLog.read(spec.logs(), read.command(), read.offset(), read.maxBytes());
          long size = CommandLog.size(spec.logs(), read.command());
          boolean more = read.offset() + output.size() < size;
          return new Shell.CommandRead(found.get(), output, read.offset(), more);
        });
    return Effect().noReply();
  }

  private ReplyEffect<ShellEvent, ShellState> onAwait(ShellState state, Shell.Await await) {
    var waiter = new ShellWaiters.ForIdle(await);
    if (end.isPresent() || state.running().isEmpty()) {
      answer(state, waiter);
    } else {
      waitOrAnswer(state, waiter, await.timeoutMs());
    }
    return Effect().noReply();
  }

  private ReplyEffect<ShellEvent, ShellState> onSignal(Shell.SignalBelow signal) {
    Optional<Signal> known = Signal.parse(signal.signal());
    if (known.isEmpty()) {
      signal.refuse(new Failure.InvalidSignal(signal.signal()));
      return Effect().noReply();
    }
    Signal sent = known.get();
    ifLive(
        signal,
        shell ->
            replyLater(
                signal,
                signal.replyTo(),
                () -> new Shell.Signalled(sent.number(), shell.signalBelow(sent))));
    return Effect().noReply();
  }

  private ReplyEffect<ShellEvent, ShellState> onStdin(Shell.WriteStdin write) {
    ifLive(
        write,
        shell -> {
          Optional<StdinPipe> target = write.tty() ? shell.tty() : Optional.of(shell.stdin());
          if (target.isEmpty()) {
            write.refuse(new Failure.Conflict("the shell has no terminal"));
            return;
          }
          lastActivityAt = now();
          target
              .get()
              .write(write.data().toArrayUnsafe(), write.offset(), write.eof())
              .thenAccept(
                  result -> {
                    switch (result) {
                      case Result.Ok<Long>(var accepted) ->
                          write
                              .replyTo()
                              .tell(new Shell.StdinWritten(write.data().size(), accepted));
                      case Result.Refused<Long>(var failure) -> write.refuse(failure);
                    }
                  });
        });
    return Effect().noReply();
  }

  private ReplyEffect<ShellEvent, ShellState> onResize(Shell.Resize resize) {
    ifLive(
        resize,
        shell -> {
          if (shell.terminal().isEmpty()) {
            resize.refuse(new Failure.Conflict("the shell has no terminal"));
            return;
          }
          Pty.setSize(
              shell.terminal().get().master(), resize.size().rows(), resize.size().columns());
          resize.replyTo().tell(new Shell.Resized(resize.size()));
        });
    return Effect().noReply();
  }

  private ReplyEffect<ShellEvent, ShellState> onListProcesses(Shell.ListProcesses list) {
    Optional<ShellProcess> live = process.filter(p -> end.isEmpty());
    replyLater(
        list,
        list.replyTo(),
        () ->
            new Shell.Processes(
                live.stream()
                    .flatMap(p -> p.started().members().members().stream())
                    .flatMap(p -> ProcessInfo.read(p.pid()).stream())
                    .toList()));
    return Effect().noReply();
  }

  private void ifLive(Shell.Request request, java.util.function.Consumer<ShellProcess> then) {
    process
        .filter(p -> end.isEmpty())
        .filter(not(p -> closing))
        .ifPresentOrElse(then, () -> request.refuse(new Failure.ShellNotRunning()));
  }

  // --- answers ---

  private void waitOrAnswer(ShellState state, ShellWaiters.Waiter waiter, long waitMs) {
    if (waitMs == 0) {
      answer(state, waiter);
      return;
    }
    waiters.add(waiter);
    waiters.timer(
        waiter,
        context.scheduleOnce(Duration.ofMillis(waitMs), context.getSelf(), new WaitOver(waiter)));
  }

  private void answer(ShellState state, ShellWaiters.Waiter waiter) {
    switch (waiter) {
      case ShellWaiters.ForExec(var exec, var id) -> {
        CommandRecord command = current(state.find(id).orElseThrow());
        exec.replyTo()
            .tell(new Shell.Executed(reader(state).result(command, exec.window(), shellState())));
      }
      case ShellWaiters.ForOutput(var read) -> answerOutput(state, read);
      case ShellWaiters.ForIdle(var await) ->
          await
              .replyTo()
              .tell(
                  new Shell.Awaited(
                      end.isPresent() || state.running().isEmpty(),
                      view(state),
                      state.last().map(this::current)));
      case ShellWaiters.ForClose(var close) -> close.replyTo().tell(new Shell.Closed(view(state)));
    }
  }

  private void answerOutput(ShellState state, Shell.ReadOutput read) {
    OutputReader reader = reader(state);
    ShellView view = view(state);
    if (process.isPresent() && !(read.fromLogs() && read.cursor() < process.get().ring().start())) {
      read.replyTo().tell(new Shell.Output(view, reader.fromRing(read.cursor(), read.maxBytes())));
    } else {
      replyLater(
          read,
          read.replyTo(),
          () -> new Shell.Output(view, reader.fromRingOrLogs(read.cursor(), read.maxBytes())));
    }
  }

  private OutputReader reader(ShellState state) {
    return new OutputReader(process.map(ShellProcess::ring), spec.logs(), state.history());
  }

  private CommandRecord current(CommandRecord command) {
    return command.isRunning()
        ? command.withLogBytes(process.map(ShellProcess::logBytes).orElse(0L))
        : command;
  }

  private ShellView.State shellState() {
    return end.map(ShellEnd::state).orElse(ShellView.State.RUNNING);
  }

  private ShellView view(ShellState state) {
    return new ShellView(
        spec.identity(),
        shellState(),
        end.map(ShellEnd::reason),
        lastActivityAt,
        state.running().map(CommandRecord::id),
        reader(state).end(),
        state.history().size());
  }

  private void later(Duration delay, Internal message) {
    context.scheduleOnce(delay, context.getSelf(), message);
  }

  private <T> void tellSelf(
      CompletableFuture<T> future, java.util.function.Function<T, Internal> message) {
    context.pipeToSelf(
        future, (value, failure) -> failure == null ? message.apply(value) : new Done());
  }

  private void onBlocking(Runnable work) {
    context.pipeToSelf(
        CompletableFuture.runAsync(work, runtime.blocking()), (done, failure) -> new Done());
  }

  /** Answers from a thread that may block; what breaks there is a bug, and is answered as one. */
  private <R> void replyLater(Shell.Request request, ActorRef<R> replyTo, Supplier<R> work) {
    runtime
        .blocking()
        .execute(
            () -> {
              try {
                replyTo.tell(work.get());
              } catch (RuntimeException e) {
                LOG.error("a request to {} broke", spec.identity().id(), e);
                request.refuse(new Failure.Internal());
              }
            });
  }

  private static long now() {
    return System.currentTimeMillis();
  }
}
