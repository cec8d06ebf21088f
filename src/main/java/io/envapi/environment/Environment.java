package io.envapi.environment;

import io.envapi.CborSerializable;
import io.envapi.account.EnvironmentSpec;
import io.envapi.account.Quotas;
import io.envapi.failure.Failure;
import io.envapi.failure.Refusable;
import io.envapi.files.FileAnswer;
import io.envapi.files.FileOperation;
import io.envapi.files.TransferAnswer;
import io.envapi.files.TransferStep;
import io.envapi.id.AccountId;
import io.envapi.id.EnvironmentId;
import io.envapi.id.ShellId;
import io.envapi.process.ProcessInfo;
import io.envapi.shell.CommandRecord;
import io.envapi.shell.CommandResult;
import io.envapi.shell.Shell;
import io.envapi.shell.ShellView;
import io.envapi.shell.TerminalSize;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.util.ByteString;

/**
 * What may be asked of an environment, and what it answers. Quotas come with the request, from the
 * account that was asked where the environment is.
 */
public final class Environment {

  private Environment() {}

  /** A message to an environment. */
  public sealed interface Command extends CborSerializable
      permits Request, EnvironmentActor.Internal {}

  /** A message that is answered, at least by a refusal. */
  public sealed interface Request extends Command, Refusable {

    /** What to say where {@code environment} is not there. */
    default Failure notFound(EnvironmentId environment) {
      return new Failure.NotFound(Failure.Kind.ENVIRONMENT, environment.value());
    }
  }

  /** A request that the environment itself answers. */
  public sealed interface Asked extends Request {

    ActorRef<? super Refused> replyTo();

    @Override
    default void refuse(Failure failure) {
      replyTo().tell(new Refused(failure));
    }
  }

  /** A request for one of the environment's shells. */
  public record ToShell(ShellId shell, Shell.Request request, Quotas quotas) implements Request {

    @Override
    public void refuse(Failure failure) {
      request.refuse(failure);
    }

    @Override
    public Failure notFound(EnvironmentId environment) {
      return request.notFound(shell);
    }
  }

  /** Makes the environment; the first message it ever gets. */
  public record Create(
      AccountId account, EnvironmentSpec spec, int uid, ActorRef<CreateReply> replyTo)
      implements Asked {}

  public record Describe(ActorRef<DescribeReply> replyTo) implements Asked {}

  public record Summarise(ActorRef<SummaryReply> replyTo) implements Asked {}

  /** Measures the disk. */
  public record MeasureUsage(Quotas quotas, ActorRef<UsageReply> replyTo) implements Asked {}

  /**
   * Waits for events that come after one of them.
   *
   * @param after the number of the event; 0 for none
   */
  public record AwaitEvents(long after, long waitMs, ActorRef<EventsReply> replyTo)
      implements Asked {}

  public record Delete(ActorRef<DeleteReply> replyTo) implements Asked {}

  /** A request after which nothing of its shells and files is left. */
  public sealed interface EmptyingRequest extends Asked {
    @Override
    ActorRef<DescribeReply> replyTo();
  }

  /** Empties it and makes it active. */
  public record Reset(ActorRef<DescribeReply> replyTo) implements EmptyingRequest {}

  /** Ends every shell at once. */
  public record CloseShells(ActorRef<DescribeReply> replyTo) implements Asked {}

  /** Ends every shell at once, empties it, and leaves the record. */
  public record Archive(ActorRef<DescribeReply> replyTo) implements EmptyingRequest {}

  /**
   * Opens a shell.
   *
   * @param cwd as the caller wrote it
   * @param environment names checked
   */
  public record OpenShell(
      String cwd,
      Map<String, String> environment,
      Optional<TerminalSize> terminal,
      Quotas quotas,
      ActorRef<OpenReply> replyTo)
      implements Asked {}

  public record ListShells(ActorRef<ShellsReply> replyTo) implements Asked {}

  public record ListProcesses(ActorRef<ProcessesReply> replyTo) implements Asked {}

  /** Signals one process; {@code signal} is a name or a number as text. */
  public record SignalProcess(int pid, String signal, ActorRef<SignalReply> replyTo)
      implements Asked {}

  public record RunFile(FileOperation operation, Quotas quotas, ActorRef<FileReply> replyTo)
      implements Asked {}

  /** One step of a transfer of a file's bytes. */
  public record Transfer(TransferStep step, Quotas quotas, ActorRef<TransferReply> replyTo)
      implements Asked {}

  /** Runs one command in a shell of its own. */
  public record RunOnce(Once once, Quotas quotas, ActorRef<OnceReply> replyTo) implements Asked {}

  /**
   * One command in a shell of its own.
   *
   * @param stdin what it reads, then the end of the input
   * @param secrets variables for the command, by service
   */
  public record Once(
      String command,
      long timeoutMs,
      String cwd,
      Map<String, String> environment,
      Optional<TerminalSize> terminal,
      ByteString stdin,
      Map<String, Map<String, String>> secrets,
      List<String> missing,
      Shell.Window window) {

    /** Without the command and the secrets. */
    @Override
    public String toString() {
      return "Once[timeoutMs=" + timeoutMs + "]";
    }
  }

  public sealed interface CreateReply extends CborSerializable {}

  public sealed interface DescribeReply extends CborSerializable {}

  public sealed interface SummaryReply extends CborSerializable {}

  public sealed interface UsageReply extends CborSerializable {}

  public sealed interface EventsReply extends CborSerializable {}

  public sealed interface DeleteReply extends CborSerializable {}

  public sealed interface OpenReply extends CborSerializable {}

  public sealed interface ShellsReply extends CborSerializable {}

  public sealed interface ProcessesReply extends CborSerializable {}

  public sealed interface SignalReply extends CborSerializable {}

  public sealed interface FileReply extends CborSerializable {}

  public sealed interface TransferReply extends CborSerializable {}

  public sealed interface OnceReply extends CborSerializable {}

  /** The request had no effect. */
  public record Refused(Failure failure)
      implements CreateReply,
          DescribeReply,
          SummaryReply,
          UsageReply,
          EventsReply,
          DeleteReply,
          OpenReply,
          ShellsReply,
          ProcessesReply,
          SignalReply,
          FileReply,
          TransferReply,
          OnceReply {}

  public record Created() implements CreateReply {}

  public record Described(EnvironmentView environment) implements DescribeReply {}

  /**
   * @param recentCommands newest first
   */
  public record Summary(
      EnvironmentView environment,
      List<ShellView> shells,
      List<ShellProcessInfo> processes,
      List<CommandRecord> recentCommands)
      implements SummaryReply {}

  public record Usage(UsageView usage) implements UsageReply {}

  /**
   * @param last the number of the newest event
   */
  public record EventsUpTo(long last) implements EventsReply {}

  public record Deleted() implements DeleteReply {}

  public record Opened(ShellView shell) implements OpenReply {}

  public record Shells(List<ShellView> shells) implements ShellsReply {}

  /** A process and the shell it belongs to. */
  public record ShellProcessInfo(ShellId shell, ProcessInfo process) {}

  public record Processes(List<ShellProcessInfo> processes) implements ProcessesReply {}

  public record Signalled(int signal, ShellId shell) implements SignalReply {}

  public record FileDone(FileAnswer answer) implements FileReply {}

  public record Transferred(TransferAnswer answer) implements TransferReply {}

  public record RanOnce(CommandResult result) implements OnceReply {}
}
