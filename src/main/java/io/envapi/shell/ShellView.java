package io.envapi.shell;

import io.envapi.id.CommandId;
import io.envapi.id.ShellId;
import java.util.Locale;
import java.util.Optional;

/**
 * A shell as callers see it.
 *
 * @param identity what is known of it for good
 * @param state whether it lives
 * @param deadReason why it does not
 * @param lastActivityAt epoch ms
 * @param cursor one past the newest output byte
 * @param commandsRun commands in the history
 */
public record ShellView(
    ShellIdentity identity,
    State state,
    Optional<String> deadReason,
    long lastActivityAt,
    Optional<CommandId> currentCommand,
    long cursor,
    int commandsRun) {

  /** Whether a shell lives. */
  public enum State {
    RUNNING,
    CLOSED,
    DEAD;

    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  public ShellId id() {
    return identity.id();
  }
}
