package io.envapi.shell;

import io.envapi.linux.ExitStatus;

/**
 * How a command ended, as its shell's process saw it.
 *
 * @param outputEnd one past its last byte in the shell's output
 * @param logBytes the size of its log
 * @param logTruncated whether it printed more than the log holds
 */
record CommandEnd(How how, long outputEnd, long logBytes, boolean logTruncated) {

  sealed interface How {}

  /** Its frame came, with the status. */
  record Framed(int status) implements How {}

  /** The shell's process ended first. */
  record ShellGone(ExitStatus status) implements How {}
}
