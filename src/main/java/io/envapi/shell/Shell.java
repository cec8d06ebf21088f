package io.envapi.shell;

import io.envapi.CborSerializable;
import io.envapi.failure.Failure;
import io.envapi.failure.Refusable;
import io.envapi.id.CommandId;
import io.envapi.id.ShellId;
import io.envapi.process.ProcessInfo;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.util.ByteString;

/**
 * What may be asked of a shell, and what it answers. Everything may be asked at any time: a shell
 * that ended still tells what it ran and printed, and refuses the rest with {@code
 * ShellNotRunning}.
 */
public final class Shell {

  private Shell() {}

  /** A message to a shell. */
  public sealed interface Command extends CborSerializable permits Request, ShellActor.Internal {}

  /** A message that is answered, at least by {@link Refused}. */
  public sealed interface Request extends Command, Refusable {

    ActorRef<? super Refused> replyTo();

    @Override
    default void refuse(Failure failure) {
      replyTo().tell(new Refused(failure));
    }

    /** What to say where {@code shell} is not there. */
    default Failure notFound(ShellId shell) {
      return new Failure.NotFound(Failure.Kind.SHELL, shell.value());
    }
  }

  public record Describe(ActorRef<DescribeReply> replyTo) implements Request {}

  /**
   * Runs a command.
   *
   * @param waitMs how long the answer may wait for its end
   * @param timeoutMs when it is killed
   * @param secrets variables for this command alone, by service
   * @param window which part of the output the answer holds
   * @param subshell whether {@code exit} ends the command alone
   */
  public record Exec(
      String command,
      long waitMs,
      Optional<Long> timeoutMs,
      Map<String, Map<String, String>> secrets,
      List<String> missing,
      Window window,
      boolean subshell,
      long logCap,
      ActorRef<ExecReply> replyTo)
      implements Request {

    /** Without the command and the secrets, which no log may hold. */
    @Override
    public String toString() {
      return "Exec[waitMs=" + waitMs + ", timeoutMs=" + timeoutMs + "]";
    }
  }

  /** Which end of the output an answer keeps, and how many bytes of it. */
  public record Window(int maxBytes, boolean tail) {}

  /**
   * Reads the shell's output as far as it is in memory.
   *
   * @param waitMs how long the answer may wait for output past {@code cursor} while a command runs
   */
  public record ReadOutput(long cursor, int maxBytes, long waitMs, ActorRef<OutputReply> replyTo)
      implements Request {}

  /**
   * Reads what comes next for somebody who follows the shell: output past {@code cursor}, from
   * memory or from the commands' logs, and commands that began or ended.
   *
   * @param mark the newest of the {@link CommandMarks} known; negative for somebody who knows
   *     nothing yet, who is answered at once
   * @param waitMs how long the answer may wait for something new
   */
  public record Follow(
      long cursor, int mark, int maxBytes, long waitMs, ActorRef<FollowReply> replyTo)
      implements Request {}

  public record ReadCommand(
      CommandId command, long offset, int maxBytes, ActorRef<CommandReply> replyTo)
      implements Request {

    @Override
    public Failure notFound(ShellId shell) {
      return new Failure.NotFound(Failure.Kind.COMMAND, command.value());
    }
  }

  /** Asks again what {@link Exec} would answer now. */
  public record ReadResult(CommandId command, Window window, ActorRef<ExecReply> replyTo)
      implements Request {

    @Override
    public Failure notFound(ShellId shell) {
      return new Failure.NotFound(Failure.Kind.COMMAND, command.value());
    }
  }

  public record ListCommands(ActorRef<CommandsReply> replyTo) implements Request {}

  /** Waits until no command runs. */
  public record Await(long timeoutMs, ActorRef<AwaitReply> replyTo) implements Request {}

  /** Signals everything below the shell; {@code signal} is a name or a number as text. */
  public record SignalBelow(String signal, ActorRef<SignalReply> replyTo) implements Request {}

  /**
   * @param patient the input of a shell's only command, which may begin to read whenever it likes
   */
  public record WriteStdin(
      ByteString data,
      boolean tty,
      OptionalLong offset,
      boolean eof,
      boolean patient,
      ActorRef<StdinReply> replyTo)
      implements Request {

    /** All the input that there will be. */
    public static WriteStdin whole(ByteString data, ActorRef<StdinReply> replyTo) {
      return new WriteStdin(data, false, OptionalLong.empty(), true, true, replyTo);
    }
  }

  public record Resize(TerminalSize size, ActorRef<ResizeReply> replyTo) implements Request {}

  public record ListProcesses(ActorRef<ProcessesReply> replyTo) implements Request {}

  /**
   * Ends the shell. At once with SIGKILL, or after SIGTERM and the grace period.
   *
   * @param unusedSince refused where the shell was used later, epoch ms
   */
  public record Close(boolean atOnce, OptionalLong unusedSince, ActorRef<CloseReply> replyTo)
      implements Request {
    public Close(boolean atOnce, ActorRef<CloseReply> replyTo) {
      this(atOnce, OptionalLong.empty(), replyTo);
    }
  }

  public sealed interface DescribeReply extends CborSerializable {}

  public sealed interface ExecReply extends CborSerializable {}

  public sealed interface OutputReply extends CborSerializable {}

  public sealed interface FollowReply extends CborSerializable {}

  public sealed interface CommandReply extends CborSerializable {}

  public sealed interface CommandsReply extends CborSerializable {}

  public sealed interface AwaitReply extends CborSerializable {}

  public sealed interface SignalReply extends CborSerializable {}

  public sealed interface StdinReply extends CborSerializable {}

  public sealed interface ResizeReply extends CborSerializable {}

  public sealed interface ProcessesReply extends CborSerializable {}

  public sealed interface CloseReply extends CborSerializable {}

  /** The request had no effect. */
  public record Refused(Failure failure)
      implements DescribeReply,
          ExecReply,
          OutputReply,
          FollowReply,
          CommandReply,
          CommandsReply,
          AwaitReply,
          SignalReply,
          StdinReply,
          ResizeReply,
          ProcessesReply,
          CloseReply {}

  public record Described(ShellView shell) implements DescribeReply {}

  /** The command's state when the wait was over. */
  public record Executed(CommandResult result) implements ExecReply {}

  public record Output(ShellView shell, OutputRing.Slice slice) implements OutputReply {}

  /**
   * What was so at one moment.
   *
   * @param slice nothing past the end of a command that is not among {@code commands} as ended, nor
   *     past the beginning of one that is not among them
   * @param commands those that are not older than the mark known, oldest first
   */
  public record Followed(ShellView shell, OutputRing.Slice slice, List<CommandRecord> commands)
      implements FollowReply {
    public Followed {
      commands = List.copyOf(commands);
    }
  }

  /**
   * @param output from the command's log
   * @param more whether the log holds more
   * @param dropped bytes that were logged and are not on the disk any more
   */
  public record CommandRead(
      CommandRecord command, ByteString output, long offset, boolean more, long dropped)
      implements CommandReply {}

  public record Commands(List<CommandRecord> commands) implements CommandsReply {}

  public record Awaited(boolean idle, ShellView shell, Optional<CommandRecord> last)
      implements AwaitReply {}

  public record Signalled(int signal, int processes) implements SignalReply {}

  /**
   * @param accepted bytes accepted since the shell opened, for a repeated write
   */
  public record StdinWritten(int bytes, long accepted) implements StdinReply {}

  public record Resized(TerminalSize size) implements ResizeReply {}

  public record Processes(List<ProcessInfo> processes) implements ProcessesReply {}

  public record Closed(ShellView shell) implements CloseReply {}
}
