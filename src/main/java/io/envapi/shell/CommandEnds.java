package io.envapi.shell;

import io.envapi.id.CommandId;
import io.envapi.linux.ExitStatus;
import java.util.Optional;

/** What the end of a process means for the command and for the shell. */
final class CommandEnds {

  static final String FRAME_LOST = "frame_lost";
  static final String SANDBOX_LOST = "sandbox_lost";
  static final String CLOSED = "closed";
  static final String RESTARTED = "service_restarted";

  private static final int SIGNALED = 128;
  private static final int LAST_SIGNAL = 64;
  private static final int KILL = 9;

  /**
   * What the service did to a command.
   *
   * @param killedFor why the service killed the shell
   * @param outOfMemory whether the kernel killed a process for want of memory
   */
  record Cause(
      boolean timedOut, boolean closing, Optional<String> killedFor, boolean outOfMemory) {}

  private CommandEnds() {}

  static ShellEvent.CommandFinished event(CommandId id, CommandEnd end, Cause cause, long now) {
    return switch (end.how()) {
      case CommandEnd.Framed(var status) -> framed(id, end, status, cause, now);
      case CommandEnd.ShellGone(var status) -> shellGone(id, end, status, cause, now);
    };
  }

  /** Bash reports the death of a process by signal n as 128+n, and so does this. */
  private static ShellEvent.CommandFinished framed(
      CommandId id, CommandEnd end, int status, Cause cause, long now) {
    Optional<Integer> signal =
        status > SIGNALED && status <= SIGNALED + LAST_SIGNAL
            ? Optional.of(status - SIGNALED)
            : Optional.empty();
    CommandRecord.Reason reason =
        cause.timedOut()
            ? CommandRecord.Reason.TIMED_OUT
            : cause.outOfMemory() && status == SIGNALED + KILL
                ? CommandRecord.Reason.OOM
                : signal.isPresent() ? CommandRecord.Reason.SIGNALED : CommandRecord.Reason.EXITED;
    var state = cause.timedOut() ? CommandRecord.State.TIMED_OUT : CommandRecord.State.EXITED;
    return finished(id, end, state, reason, Optional.of(status), signal, now);
  }

  private static ShellEvent.CommandFinished shellGone(
      CommandId id, CommandEnd end, ExitStatus status, Cause cause, long now) {
    if (cause.timedOut()) {
      return finished(
          id,
          end,
          CommandRecord.State.TIMED_OUT,
          CommandRecord.Reason.TIMED_OUT,
          Optional.empty(),
          Optional.of(KILL),
          now);
    }
    CommandRecord.Reason reason =
        cause.closing()
            ? CommandRecord.Reason.SHELL_CLOSED
            : cause.killedFor().map(CommandEnds::killed).orElseGet(() -> byItself(status, cause));
    return switch (status) {
      case ExitStatus.Exited(var code) ->
          finished(
              id,
              end,
              CommandRecord.State.SHELL_DIED,
              reason,
              Optional.of(code),
              Optional.empty(),
              now);
      case ExitStatus.Signaled(var signal) ->
          finished(
              id,
              end,
              CommandRecord.State.SHELL_DIED,
              reason,
              Optional.empty(),
              Optional.of(signal),
              now);
    };
  }

  /** The end of a command whose shell is gone without anybody having seen how. */
  static ShellEvent.CommandFinished lost(
      CommandRecord command, String shellReason, long at, long logBytes) {
    CommandRecord.Reason reason =
        shellReason.equals(CLOSED)
            ? CommandRecord.Reason.SHELL_CLOSED
            : CommandRecord.Reason.SERVICE_RESTARTED;
    return new ShellEvent.CommandFinished(
        command.id(),
        CommandRecord.State.SHELL_DIED,
        reason,
        Optional.empty(),
        Optional.empty(),
        at,
        command.outputStart() + logBytes,
        logBytes,
        false);
  }

  private static CommandRecord.Reason killed(String deadReason) {
    return switch (deadReason) {
      case FRAME_LOST -> CommandRecord.Reason.FRAME_LOST;
      case SANDBOX_LOST -> CommandRecord.Reason.SANDBOX_LOST;
      default -> CommandRecord.Reason.SERVICE_RESTARTED;
    };
  }

  private static CommandRecord.Reason byItself(ExitStatus status, Cause cause) {
    return switch (status) {
      case ExitStatus.Exited _ -> CommandRecord.Reason.SHELL_EXITED;
      case ExitStatus.Signaled _ when cause.outOfMemory() -> CommandRecord.Reason.OOM;
      case ExitStatus.Signaled _ -> CommandRecord.Reason.SIGNALED;
    };
  }

  /** The {@code dead_reason} of a shell that ended by itself. */
  static String reason(ExitStatus status) {
    return switch (status) {
      case ExitStatus.Exited(var code) -> "exit:" + code;
      case ExitStatus.Signaled(var signal) -> "signal:" + signal;
    };
  }

  private static ShellEvent.CommandFinished finished(
      CommandId id,
      CommandEnd end,
      CommandRecord.State state,
      CommandRecord.Reason reason,
      Optional<Integer> exitCode,
      Optional<Integer> signal,
      long now) {
    return new ShellEvent.CommandFinished(
        id,
        state,
        reason,
        exitCode,
        signal,
        now,
        end.outputEnd(),
        end.logBytes(),
        end.logTruncated());
  }
}
