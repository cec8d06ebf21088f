package io.envapi.environment;

import io.envapi.shell.ShellEnd;
import io.envapi.shell.ShellIdentity;
import io.envapi.shell.ShellView;
import java.util.Optional;

/**
 * What an environment keeps of a shell for good.
 *
 * @param told the newest of its {@link io.envapi.shell.CommandMarks} among the environment's events
 */
public record ShellRecord(ShellIdentity identity, Optional<ShellEnd> end, int told) {

  public ShellView.State state() {
    return end.map(ShellEnd::state).orElse(ShellView.State.RUNNING);
  }

  public boolean isRunning() {
    return end.isEmpty();
  }
}
