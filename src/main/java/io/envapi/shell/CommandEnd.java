package io.envapi.shell;

import io.envapi.linux.ExitStatus;
import java.util.Optional;

/**
 * How a command ended, as its shell's process saw it.
 *
 * @param outputEnd one past its last byte in the shell's output
 * @param logBytes the size of its log
 * @param logTruncated whether it printed more than the log holds
 */
record CommandEnd(How how, long outputEnd, long logBytes, boolean logTruncated) {

  /** 128 + SIGKILL. */
  private static final int KILLED = 137;

  sealed interface How {}

  /** Its frame came, with the status. */
  record Framed(int status) implements How {}

  /** The shell's process ended first. */
  record ShellGone(ExitStatus status) implements How {}

  /** How the shell itself ended; empty while it lives. */
  Optional<ExitStatus> shellStatus() {
    return switch (how) {
      case Framed _ -> Optional.empty();
      case ShellGone(var status) -> Optional.of(status);
    };
  }

  /** Whether SIGKILL may have ended it, which is how the kernel takes memory back. */
  boolean mayBeOutOfMemory() {
    return switch (how) {
      case Framed(var status) -> status == KILLED;
      case ShellGone(var status) -> status instanceof ExitStatus.Signaled;
    };
  }
}
