package io.envapi.shell;

import org.apache.pekko.util.ByteString;

/**
 * A command with what it printed.
 *
 * @param output the wanted end of its output
 * @param dropped bytes that had left the ring before they were read
 * @param truncated bytes cut by the cap
 * @param cursor the offset after what {@code output} holds
 */
public record CommandResult(
    CommandRecord command,
    ByteString output,
    long dropped,
    long truncated,
    long cursor,
    ShellView.State shellState) {

  /** The same when the shell is in another state. */
  public CommandResult inShell(ShellView.State state) {
    return new CommandResult(command, output, dropped, truncated, cursor, state);
  }
}
