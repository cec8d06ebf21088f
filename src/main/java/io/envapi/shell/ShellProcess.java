package io.envapi.shell;

import io.envapi.id.ShellId;
import io.envapi.linux.ExitStatus;
import io.envapi.linux.FileDescriptor;
import io.envapi.linux.LinuxException;
import io.envapi.linux.Memfd;
import io.envapi.linux.Pipe;
import io.envapi.linux.Poller;
import io.envapi.linux.Signal;
import io.envapi.process.ProcFs;
import io.envapi.process.ProcessIdentity;
import io.envapi.sandbox.Launch;
import io.envapi.sandbox.Started;
import io.envapi.sandbox.Terminal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The live process of a shell: its pipes, what it is told through them, and how it ends.
 *
 * <p>It outlives a restart of its actor, which finds it again in {@link ShellProcesses} and takes
 * up the end of the running command where it left it.
 */
public final class ShellProcess {

  private static final Logger LOG = LoggerFactory.getLogger(ShellProcess.class);

  /**
   * Bytes that always fit into the script's pipe, which is empty between commands: also where a
   * user has so many pipes that a new one gets two pages (pipe-user-pages-soft, pipe(7)).
   */
  private static final int PIPE_HOLDS = 4 << 10;

  private static final Duration STDIN_PATIENCE = Duration.ofSeconds(5);
  private static final Duration SANDBOX_END = Duration.ofMillis(200);
  private static final Duration TERMINATION_POLL = Duration.ofMillis(5);
  private static final Duration STOP_POLL = Duration.ofMillis(100);

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

  private final ShellId id;
  private final Started started;
  private final ShellTree tree;
  private final Pipes pipes;
  private final CompletableFuture<Void> sandboxLost;
  private final String scriptPipe;
  private final Executor waiting;
  private final ShellOutput output;
  private final StdinPipe stdin;
  private final Optional<StdinPipe> tty;
  private final CompletableFuture<ExitStatus> gone = new CompletableFuture<>();
  private final CompletableFuture<ExitStatus> exited = new CompletableFuture<>();
  private volatile boolean replaced;
  private volatile String epilogue = "";
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
    this.tree = new ShellTree(started);
    this.pipes = pipes;
    this.sandboxLost = sandboxLost;
    this.output = new ShellOutput(new OutputRing(ringBytes, 0), runtime.meter(), logs, gone);
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
    writeScript(Launch.FIRST_LINE.getBytes(StandardCharsets.US_ASCII));
  }

  private void pump(Poller poller, ShellRuntime runtime) {
    output
        .pump(new OutputSource(pipes.output(), poller, exited), runtime.materializer())
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
  private void watch(Poller poller, Executor waiting) {
    Executor later =
        CompletableFuture.delayedExecutor(STOP_POLL.toMillis(), TimeUnit.MILLISECONDS, waiting);
    if (!started.process().equals(started.shell())) {
      started.child().onStop(() -> later.execute(() -> wake(later)));
    }
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
                waiting);
  }

  /**
   * The program that wraps a shell stops when the shell is stopped, and then sees neither that it
   * goes on nor that it ends. Woken it sends the shell SIGCONT, so not while that is to stand.
   */
  private void wake(Executor later) {
    if (!isStopped(started.process())) {
      return;
    }
    if (isStopped(started.shell())) {
      later.execute(() -> wake(later));
    } else {
      started.child().signal(Signal.CONT);
    }
  }

  private static boolean isStopped(ProcessIdentity process) {
    return process.isAlive()
        && ProcFs.stat(process.pid()).filter(stat -> stat.state() == 'T').isPresent();
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
    output.flush();
    var _ =
        exited.thenAccept(
            status -> {
              stdin.close();
              tty.ifPresent(StdinPipe::close);
              pipes.script().close();
              pipes.bulk().close();
              output.shellGone(status);
              started.members().close();
              gone.complete(status);
            });
  }

  /** Writes the prepared command to the shell. {@code variables} are secrets, and stay redacted. */
  void execute(String text, Map<String, String> variables) {
    String nonce = Framing.nonce();
    int lastStatus = output.await(nonce);
    String line;
    if (Script.isBulk(text)) {
      if (!putAside(text)) {
        return;
      }
      line = Script.bulkLine(lastStatus, variables);
      epilogue = Framing.epilogueWith(Launch.BULK, nonce);
    } else {
      line = Script.line(text, lastStatus, variables);
      epilogue = Framing.epilogue(nonce);
    }
    byte[] bytes = (line + epilogue).getBytes(StandardCharsets.UTF_8);
    if (bytes.length <= PIPE_HOLDS) {
      writeScript(bytes);
    } else {
      // With many variables; a shell that is stopped would keep the thread.
      waiting.execute(() -> writeScript(bytes));
    }
  }

  /** A shell that cannot be given its command, and has not ended by itself, is ended. */
  private boolean putAside(String text) {
    try {
      pipes.bulk().replace(text.getBytes(StandardCharsets.UTF_8));
      return true;
    } catch (LinuxException e) {
      LOG.warn("{} cannot be given a large command: {}", id, e.getMessage());
      waiting.execute(this::kill);
      return false;
    }
  }

  /**
   * Has the shell print the frame of a command whose line it gave up before that: as bash does when
   * job control is on and a child was interrupted.
   */
  void askForFrame() {
    writeScript(epilogue.getBytes(StandardCharsets.US_ASCII));
  }

  /** The line holds the values of variables. */
  private void writeScript(byte[] line) {
    try {
      pipes.script().writeAllAndWipe(line);
    } catch (LinuxException e) {
      // The shell is gone, or gave up its script; either is seen elsewhere and ends the command.
      LOG.debug("{} takes no more commands: {}", id, e.getMessage());
    }
  }

  public ShellId id() {
    return id;
  }

  ShellOutput output() {
    return output;
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

  /** The shell, and all it has started. */
  ShellTree tree() {
    return tree;
  }

  /**
   * Ends the shell: SIGTERM and SIGCONT to every member, SIGKILL to what is left after {@code
   * grace}. Blocks until they are gone. What wraps the shell is left to end with it: it tells how
   * the shell did.
   */
  void terminate(Duration grace) {
    var over = new CompletableFuture<Void>();
    killed = true;
    closing = over;
    try {
      // What is stopped would not see the one without the other.
      started.members().members().stream()
          .filter(p -> !tree.isWrapper(p))
          .filter(p -> p.signal(Signal.TERM))
          .forEach(p -> p.signal(Signal.CONT));
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
   * Whether the shell waits for its next line although the frame of its command never came: it
   * reads its script, and the script is empty.
   */
  boolean asksForNextLine() {
    return !replaced
        && Pipe.queuedBytes(pipes.script()) == 0
        && ScriptReader.isReading(started.shell().pid(), scriptPipe);
  }
}
