package io.envapi.shell;

import io.envapi.id.CommandId;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * What is known of a command for good.
 *
 * @param command the text as it was sent, or the beginning of it
 * @param exitCode 128+n after signal n; empty while it runs, and when the shell itself was killed
 * @param signal the number of the signal that ended it
 * @param startedAt epoch ms
 * @param finishedAt epoch ms
 * @param outputStart the shell's cursor when it began
 * @param outputEnd the shell's cursor when it ended
 * @param timeoutMs how long it may run
 * @param textTruncated whether the text goes on
 */
public record CommandRecord(
    CommandId id,
    String command,
    State state,
    Optional<Reason> reason,
    Optional<Integer> exitCode,
    Optional<Integer> signal,
    long startedAt,
    Optional<Long> finishedAt,
    long outputStart,
    Optional<Long> outputEnd,
    long logBytes,
    boolean logTruncated,
    Optional<Long> timeoutMs,
    List<String> credentialsInjected,
    List<String> credentialsMissing,
    boolean textTruncated) {

  /** The wire's state of a command. */
  public enum State {
    RUNNING,
    EXITED,
    TIMED_OUT,
    SHELL_DIED;

    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Why a command ended. */
  public enum Reason {
    EXITED,
    SIGNALED,
    TIMED_OUT,
    OOM,
    SHELL_EXITED,
    SHELL_CLOSED,
    FRAME_LOST,
    SANDBOX_LOST,
    SERVICE_RESTARTED;

    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  public CommandRecord {
    credentialsInjected = List.copyOf(credentialsInjected);
    credentialsMissing = List.copyOf(credentialsMissing);
  }

  public boolean isRunning() {
    return state == State.RUNNING;
  }

  /** This command as {@code end} says it ended. */
  CommandRecord finished(ShellEvent.CommandFinished end) {
    return new CommandRecord(
        id,
        command,
        end.state(),
        Optional.of(end.reason()),
        end.exitCode(),
        end.signal(),
        startedAt,
        Optional.of(end.finishedAt()),
        outputStart,
        Optional.of(end.outputEnd()),
        end.logBytes(),
        end.logTruncated(),
        timeoutMs,
        credentialsInjected,
        credentialsMissing,
        textTruncated);
  }

  /** This command as it was when it began. */
  public CommandRecord begun() {
    return new CommandRecord(
        id,
        command,
        State.RUNNING,
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        startedAt,
        Optional.empty(),
        outputStart,
        Optional.empty(),
        0,
        false,
        timeoutMs,
        credentialsInjected,
        credentialsMissing,
        textTruncated);
  }

  /** This command with at most {@code units} of its text, whole characters. */
  CommandRecord shortened(int units) {
    if (command.length() <= units) {
      return this;
    }
    boolean splits = Character.isHighSurrogate(command.charAt(units - 1));
    return new CommandRecord(
        id,
        command.substring(0, splits ? units - 1 : units),
        state,
        reason,
        exitCode,
        signal,
        startedAt,
        finishedAt,
        outputStart,
        outputEnd,
        logBytes,
        logTruncated,
        timeoutMs,
        credentialsInjected,
        credentialsMissing,
        true);
  }

  /** This running command with the log it has now. */
  CommandRecord withLogBytes(long bytes) {
    return new CommandRecord(
        id,
        command,
        state,
        reason,
        exitCode,
        signal,
        startedAt,
        finishedAt,
        outputStart,
        outputEnd,
        bytes,
        logTruncated,
        timeoutMs,
        credentialsInjected,
        credentialsMissing,
        textTruncated);
  }
}
