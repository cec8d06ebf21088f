package io.envapi.shell;

import io.envapi.id.CommandId;
import io.envapi.id.ShellId;
import io.envapi.linux.ExitStatus;
import io.envapi.linux.FileDescriptor;
import io.envapi.linux.LinuxException;
import io.envapi.linux.Memfd;
import io.envapi.linux.Pipe;
import io.envapi.linux.Poller;
import io.envapi.linux.Signal;
import io.envapi.process.ProcessIdentity;
import io.envapi.sandbox.Started;
import io.envapi.sandbox.Terminal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.apache.pekko.stream.ActorAttributes;
import org.apache.pekko.stream.javadsl.Keep;
import org.apache.pekko.stream.javadsl.Sink;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.util.ByteString;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The live process of a shell: its pipes, its output and the command it runs.
 *
 * <p>It outlives a restart of its actor, which finds it again in {@link ShellProcesses} and takes
 * up the end of the running command where it left it.
 */
public final class ShellProcess {

  private static final Logger LOG = LoggerFactory.getLogger(ShellProcess.class);
  private static final String DISPATCHER = "envapi-output-dispatcher";

  /** Bytes that always fit into the script's pipe, which is empty between commands; pipe(7). */
  private static final int PIPE_HOLDS = 32 << 10;

  private static final Duration STDIN_PATIENCE = Duration.ofSeconds(5);
  private static final Duration SANDBOX_END = Duration.ofMillis(200);
  private static final Duration TERMINATION_POLL = Duration.ofMillis(5);

  /**
   * The service's ends of the pipes of a shell.
   *
   * @param output what the shell prints: a pipe, or the terminal's master
   */
  public record Pipes(
      FileDescriptor script,
      FileDescriptor stdin,
      FileDescriptor output,
      Memfd bulk,
      Optional<Terminal> terminal) {}

  /** The newest command. */
  private record Current(CommandId id, CommandLog log, CompletableFuture<CommandEnd> end) {}

  private final ShellId id;
  private final Started started;
  private final Pipes pipes;
  private final CompletableFuture<Void> sandboxLost;
  private final String scriptPipe;
  private final Executor waiting;
  private final OutputRing ring;
  private final ShellMeter meter;
  private final Path logs;
  private final Framing framing = new Framing();
  private final Redaction redaction = new Redaction();
  private final StdinPipe stdin;
  private final Optional<StdinPipe> tty;
  private final CompletableFuture<ExitStatus> gone = new CompletableFuture<>();
  private final CompletableFuture<ExitStatus> exited = new CompletableFuture<>();
  private Optional<Current> current = Optional.empty();
  private Runnable onOutput = () -> {};
  private boolean logging;
  private int lastStatus;
  private volatile boolean replaced;
  private volatile Optional<String> fate = Optional.empty();
  private volatile boolean killed;
  private volatile CompletableFuture<?> closing = CompletableFuture.completedFuture(null);

  ShellProcess(
      ShellId id,
      Started started,
      Pipes pipes,
      CompletableFuture<Void> sandboxLost,
      ShellRuntime runtime,
      Path logs,
      int ringBytes) {
    this.id = id;
    this.started = started;
    this.pipes = pipes;
    this.sandboxLost = sandboxLost;
    this.logs = logs;
    this.meter = runtime.meter();
    this.ring = new OutputRing(ringBytes, 0);
    this.scriptPipe = pipes.script().link();
    this.waiting = runtime.waiting();
    Poller poller = runtime.poller();
    this.stdin = new StdinPipe(pipes.stdin(), poller, STDIN_PATIENCE, runtime.blocking());
    this.tty =
        pipes
            .terminal()
            .map(
                t ->
                    new StdinPipe(
                        t.master().duplicate(), poller, STDIN_PATIENCE, runtime.blocking()));
    pump(poller, runtime);
    watch(poller, runtime.waiting());
    writeScript(Script.PROLOGUE.getBytes(StandardCharsets.US_ASCII));
  }

  private void pump(Poller poller, ShellRuntime runtime) {
    Source.fromGraph(new OutputSource(pipes.output(), poller, exited))
        .mapConcat(framing::feed)
        .toMat(Sink.foreach(this::deliver), Keep.right())
        .withAttributes(ActorAttributes.dispatcher(DISPATCHER))
        .run(runtime.materializer())
        .whenComplete(
            (done, failure) -> {
              if (failure != null) {
                LOG.error("the output of {} cannot be read any more", id, failure);
                runtime.waiting().execute(this::kill);
              }
              finish();
            });
  }

  /**
   * When the shell is gone its members go too, then the rest of the output is read, and only then
   * is the end told.
   */
  private void watch(Poller poller, Executor blocking) {
    Poller.Registration hangup = poller.registerHangup(pipes.script(), () -> replaced = true);
    var _ =
        started
            .child()
            .exit()
            .thenAcceptAsync(
                status -> {
                  closing.join();
                  started.members().killAll();
                  if (!killed && status instanceof ExitStatus.Signaled && sandboxIsLost()) {
                    fate = Optional.of(CommandEnds.SANDBOX_LOST);
                  }
                  hangup.cancel();
                  exited.complete(status);
                },
                blocking);
  }

  /** The kernel ends the processes of a sandbox before the one that holds it, so wait for that. */
  private boolean sandboxIsLost() {
    try {
      sandboxLost.get(SANDBOX_END.toMillis(), TimeUnit.MILLISECONDS);
      return true;
    } catch (TimeoutException e) {
      return false;
    } catch (InterruptedException | ExecutionException e) {
      throw new IllegalStateException(e);
    }
  }

  private void finish() {
    synchronized (this) {
      emit(redaction.feed(framing.flush()));
      emit(redaction.flush());
    }
    var _ =
        exited.thenAccept(
            status -> {
              stdin.close();
              tty.ifPresent(StdinPipe::close);
              pipes.script().close();
              pipes.bulk().close();
              endCurrent(new CommandEnd.ShellGone(status));
              started.members().close();
              gone.complete(status);
            });
  }

  private void deliver(Framing.Piece piece) {
    switch (piece) {
      case Framing.Output(var bytes) -> {
        synchronized (this) {
          emit(redaction.feed(bytes));
        }
      }
      case Framing.End(var status) -> {
        synchronized (this) {
          emit(redaction.flush());
          lastStatus = status;
        }
        endCurrent(new CommandEnd.Framed(status));
      }
    }
  }

  private void emit(ByteString bytes) {
    if (!bytes.isEmpty()) {
      meter.printed(bytes.size());
      // Who has read a byte finds the next ones in the log, should the service be killed here.
      if (logging) {
        current.ifPresent(c -> c.log().append(bytes));
      }
      ring.append(bytes);
      onOutput.run();
    }
  }

  private void endCurrent(CommandEnd.How how) {
    Current ended;
    CommandEnd end;
    synchronized (this) {
      if (current.isEmpty() || current.get().end().isDone()) {
        return;
      }
      ended = current.get();
      ended.log().close();
      end = new CommandEnd(how, ring.end(), ended.log().bytes(), ended.log().truncated());
      logging = false;
    }
    ended.end().complete(end);
  }

  /**
   * A command that output belongs to from now on.
   *
   * @param outputStart the cursor of its first byte
   * @param end completes when it has ended
   */
  record Prepared(long outputStart, CompletionStage<CommandEnd> end) {}

  synchronized Prepared prepare(CommandId command, long logCap) {
    var end = new CompletableFuture<CommandEnd>();
    var next = new Current(command, new CommandLog(logs, command, logCap), end);
    current = Optional.of(next);
    logging = true;
    if (gone.isDone()) {
      end.complete(new CommandEnd(new CommandEnd.ShellGone(gone.join()), ring.end(), 0, false));
    }
    return new Prepared(ring.end(), end);
  }

  /** Writes the prepared command to the shell. {@code variables} are secrets, and stay redacted. */
  void execute(String text, Map<String, String> variables) {
    String nonce = Framing.nonce();
    String line;
    synchronized (this) {
      framing.await(nonce);
      if (Script.isBulk(text)) {
        pipes.bulk().replace(text.getBytes(StandardCharsets.UTF_8));
        line = Script.bulkLine(lastStatus, variables, nonce);
      } else {
        line = Script.line(text, lastStatus, variables, nonce);
      }
    }
    byte[] bytes = line.getBytes(StandardCharsets.UTF_8);
    if (bytes.length <= PIPE_HOLDS) {
      writeScript(bytes);
    } else {
      // With many variables; a shell that is stopped would keep the thread.
      waiting.execute(() -> writeScript(bytes));
    }
  }

  private void writeScript(byte[] line) {
    try {
      pipes.script().writeAll(line);
    } catch (LinuxException e) {
      // The shell is gone, or gave up its script; either is seen elsewhere and ends the command.
      LOG.debug("{} takes no more commands: {}", id, e.getMessage());
    }
  }

  void redact(String service, byte[] secret) {
    synchronized (this) {
      redaction.add(service, secret);
    }
  }

  /** The end of {@code command}, if that is the newest. */
  synchronized Optional<CompletionStage<CommandEnd>> end(CommandId command) {
    return current.filter(c -> c.id().equals(command)).map(Current::end);
  }

  /** Bytes of the running command's log. */
  synchronized long logBytes() {
    return current.map(c -> c.log().bytes()).orElse(0L);
  }

  /** Called after every piece of output, on the thread that read it. */
  synchronized void onOutput(Runnable listener) {
    onOutput = listener;
  }

  public ShellId id() {
    return id;
  }

  OutputRing ring() {
    return ring;
  }

  StdinPipe stdin() {
    return stdin;
  }

  Optional<StdinPipe> tty() {
    return tty;
  }

  Optional<Terminal> terminal() {
    return pipes.terminal();
  }

  public boolean hasTerminal() {
    return pipes.terminal().isPresent();
  }

  public Started started() {
    return started;
  }

  /** Completes when the process is gone, its members too, and all its output has been read. */
  CompletionStage<ExitStatus> gone() {
    return gone;
  }

  /** Whether the shell gave up its script, as {@code exec} of another program does. */
  boolean replaced() {
    return replaced;
  }

  /** Everything below the shell: its members but for the shell itself and what wraps it. */
  public List<ProcessIdentity> below() {
    int wrapper = started.process().pid();
    int shell = started.shell().pid();
    return started.members().members().stream()
        .filter(p -> p.pid() != wrapper && p.pid() != shell)
        .toList();
  }

  /** Signals everything below the shell; how many processes got it. */
  int signalBelow(Signal signal) {
    return (int) below().stream().filter(p -> p.signal(signal)).count();
  }

  /**
   * Ends the shell: SIGTERM to every member, SIGKILL to what is left after {@code grace}. Blocks
   * until they are gone.
   */
  void terminate(Duration grace) {
    var over = new CompletableFuture<Void>();
    killed = true;
    closing = over;
    try {
      started.members().members().forEach(p -> p.signal(Signal.TERM));
      long deadline = System.nanoTime() + grace.toNanos();
      while (!started.members().members().isEmpty() && System.nanoTime() < deadline) {
        LockSupport.parkNanos(TERMINATION_POLL.toNanos());
      }
      started.members().killAll();
    } finally {
      over.complete(null);
    }
  }

  /** {@link #terminate}, because the service ends and not by anybody's request. */
  void endWithService(Duration grace) {
    fate = Optional.of(CommandEnds.RESTARTED);
    terminate(grace);
  }

  /** The {@code dead_reason} of a shell that something else took with it. */
  Optional<String> fate() {
    return fate;
  }

  /** Ends the shell at once with SIGKILL. */
  public void kill() {
    killed = true;
    started.members().killAll();
  }

  /**
   * Kills what the running command started and leaves what earlier ones left in the background.
   *
   * @param since when the command began, in ticks since boot
   */
  void killCommand(long since) {
    below().stream().filter(p -> p.startTicks() >= since).forEach(p -> p.signal(Signal.KILL));
  }

  /**
   * Whether the shell waits for its next line although the frame of its command never came: it
   * reads its script, and the script is empty.
   */
  boolean asksForNextLine() {
    return !replaced
        && Pipe.queuedBytes(pipes.script()) == 0
        && ScriptReader.isReading(started.shell().pid(), scriptPipe);
  }
}
