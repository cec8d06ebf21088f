package io.envapi.shell;

import io.envapi.failure.Failure;
import io.envapi.failure.Result;
import io.envapi.linux.LinuxException;
import io.envapi.linux.Pty;
import io.envapi.linux.Signal;
import io.envapi.process.ProcessInfo;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.pekko.actor.typed.ActorRef;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a shell answers without storing anything: views, output, input, signals. Used by its actor
 * alone, on the actor's thread; what blocks runs elsewhere and answers from there.
 */
final class ShellAnswers {

  private static final Logger LOG = LoggerFactory.getLogger(ShellAnswers.class);
  private static final Failure NO_TERMINAL = new Failure.Conflict("the shell has no terminal");

  private final ShellIdentity identity;
  private final Path logs;
  private final Optional<ShellProcess> process;
  private final ShellLife life;
  private final Executor blocking;

  ShellAnswers(
      ShellIdentity identity,
      Path logs,
      Optional<ShellProcess> process,
      ShellLife life,
      Executor blocking) {
    this.identity = identity;
    this.logs = logs;
    this.process = process;
    this.life = life;
    this.blocking = blocking;
  }

  ShellView view(ShellState state) {
    return new ShellView(
        identity,
        life.state(),
        life.end().map(ShellEnd::reason),
        life.lastActivityAt(),
        state.running().map(CommandRecord::id),
        outputEnd(state),
        state.history().size());
  }

  /** One past the newest byte of output. */
  long outputEnd(ShellState state) {
    return reader(state).end();
  }

  void commands(ShellState state, Shell.ListCommands list) {
    list.replyTo().tell(new Shell.Commands(state.history().stream().map(this::current).toList()));
  }

  /** Answers somebody whose wait is over. */
  void waited(ShellState state, ShellWaiters.Waiter waiter) {
    switch (waiter) {
      case ShellWaiters.ForExec(var exec, var id) ->
          state
              .find(id)
              .ifPresent(command -> executed(state, exec, exec.replyTo(), command, exec.window()));
      case ShellWaiters.ForOutput(var read) -> output(state, read);
      case ShellWaiters.ForNews(var follow) -> news(state, follow);
      case ShellWaiters.ForIdle(var await) ->
          await
              .replyTo()
              .tell(
                  new Shell.Awaited(
                      life.isOver() || state.running().isEmpty(),
                      view(state),
                      state.last().map(this::current)));
      case ShellWaiters.ForClose(var close) -> close.replyTo().tell(new Shell.Closed(view(state)));
    }
  }

  private void executed(
      ShellState state,
      Shell.Request request,
      ActorRef<? super Shell.Executed> replyTo,
      CommandRecord command,
      Shell.Window window) {
    OutputReader reader = reader(state);
    CommandRecord now = current(command);
    ShellView.State shell = life.state();
    if (process.isPresent()) {
      replyTo.tell(new Shell.Executed(reader.result(now, window, shell)));
    } else {
      later(request, replyTo, () -> new Shell.Executed(reader.result(now, window, shell)));
    }
  }

  private void output(ShellState state, Shell.ReadOutput read) {
    OutputReader reader = reader(state);
    ShellView view = view(state);
    if (process.isPresent()) {
      read.replyTo().tell(new Shell.Output(view, reader.fromRing(read.cursor(), read.maxBytes())));
    } else {
      later(
          read,
          read.replyTo(),
          () -> new Shell.Output(view, reader.fromRingOrLogs(read.cursor(), read.maxBytes())));
    }
  }

  private void news(ShellState state, Shell.Follow follow) {
    long limit = followable(state);
    ShellView view = view(state);
    List<CommandRecord> commands =
        state.history().stream()
            .filter(c -> CommandMarks.end(c.id()) >= follow.mark())
            .map(this::current)
            .toList();
    OutputReader reader = reader(state);
    Optional<OutputRing.Slice> inMemory =
        process
            .map(p -> p.output().ring().read(follow.cursor(), follow.maxBytes()))
            .filter(slice -> slice.dropped() == 0);
    if (inMemory.isPresent()) {
      follow.replyTo().tell(new Shell.Followed(view, inMemory.get().upTo(limit), commands));
    } else {
      later(
          follow,
          follow.replyTo(),
          () ->
              new Shell.Followed(
                  view,
                  reader.fromRingOrLogs(follow.cursor(), follow.maxBytes()).upTo(limit),
                  commands));
    }
  }

  /**
   * Up to where the output can be told now: a background process may print after a command ended
   * and before that is stored, and what it printed comes after that end.
   */
  long followable(ShellState state) {
    long end = outputEnd(state);
    return state
        .running()
        .flatMap(command -> process.flatMap(p -> p.output().end(command.id())))
        .map(CompletionStage::toCompletableFuture)
        .filter(CompletableFuture::isDone)
        .map(ended -> Math.min(end, ended.join().outputEnd()))
        .orElse(end);
  }

  void result(ShellState state, Shell.ReadResult read) {
    state
        .find(read.command())
        .ifPresentOrElse(
            command -> executed(state, read, read.replyTo(), command, read.window()),
            () -> read.refuse(read.notFound(identity.id())));
  }

  void command(ShellState state, Shell.ReadCommand read) {
    Optional<CommandRecord> found = state.find(read.command()).map(this::current);
    if (found.isEmpty()) {
      read.refuse(read.notFound(identity.id()));
      return;
    }
    later(
        read,
        read.replyTo(),
        () -> {
          var output = CommandLog.read(logs, read.command(), read.offset(), read.maxBytes());
          long size = CommandLog.size(logs, read.command());
          boolean more = read.offset() + output.size() < size;
          long dropped = found.get().isRunning() ? 0 : Math.max(0, found.get().logBytes() - size);
          return new Shell.CommandRead(found.get(), output, read.offset(), more, dropped);
        });
  }

  void signal(Shell.SignalBelow request) {
    Optional<Signal> known = Signal.parse(request.signal());
    if (known.isEmpty()) {
      request.refuse(new Failure.InvalidSignal(request.signal()));
      return;
    }
    Signal signal = known.get();
    ifLive(
        request,
        shell ->
            later(
                request,
                request.replyTo(),
                () -> new Shell.Signalled(signal.number(), shell.tree().signal(signal))));
  }

  void stdin(Shell.WriteStdin write) {
    ifLive(
        write,
        shell -> {
          Optional<StdinPipe> target = write.tty() ? shell.tty() : Optional.of(shell.stdin());
          if (target.isEmpty()) {
            write.refuse(NO_TERMINAL);
            return;
          }
          life.used(System.currentTimeMillis());
          target
              .get()
              .write(write.data().toArrayUnsafe(), write.offset(), write.eof(), write.patient())
              .thenAccept(result -> written(write, result));
        });
  }

  private static void written(Shell.WriteStdin write, Result<Long> result) {
    switch (result) {
      case Result.Ok<Long>(var accepted) ->
          write.replyTo().tell(new Shell.StdinWritten(write.data().size(), accepted));
      case Result.Refused<Long>(var failure) -> write.refuse(failure);
    }
  }

  void resize(Shell.Resize request) {
    ifLive(
        request,
        shell -> {
          if (shell.terminal().isEmpty()) {
            request.refuse(NO_TERMINAL);
            return;
          }
          TerminalSize size = request.size();
          try {
            Pty.setSize(shell.terminal().get().master(), size.rows(), size.columns());
            request.replyTo().tell(new Shell.Resized(size));
          } catch (LinuxException e) {
            LOG.debug("the terminal of {} is gone: {}", identity.id(), e.getMessage());
            request.refuse(new Failure.ShellNotRunning());
          }
        });
  }

  void processes(Shell.ListProcesses request) {
    Optional<ShellProcess> live = process.filter(p -> !life.isOver());
    later(
        request,
        request.replyTo(),
        () ->
            new Shell.Processes(
                live.stream()
                    .flatMap(p -> p.started().members().members().stream())
                    .flatMap(p -> ProcessInfo.read(p.pid()).stream())
                    .toList()));
  }

  private void ifLive(Shell.Request request, Consumer<ShellProcess> then) {
    process
        .filter(p -> !life.isClosing())
        .ifPresentOrElse(then, () -> request.refuse(new Failure.ShellNotRunning()));
  }

  private OutputReader reader(ShellState state) {
    return new OutputReader(process.map(p -> p.output().ring()), logs, state.history());
  }

  private CommandRecord current(CommandRecord command) {
    return command.isRunning()
        ? command.withLogBytes(process.map(p -> p.output().logBytes()).orElse(0L))
        : command;
  }

  /** Answers from a thread that may block; what breaks there is a bug, and is answered as one. */
  private <R> void later(Shell.Request request, ActorRef<R> replyTo, Supplier<R> work) {
    blocking.execute(
        () -> {
          try {
            replyTo.tell(work.get());
          } catch (RuntimeException e) {
            LOG.error("a request to {} broke", identity.id(), e);
            request.refuse(new Failure.Internal());
          }
        });
  }
}
