package io.envapi.shell;

import io.envapi.linux.ExitStatus;
import java.util.Optional;

/**
 * What the service did to a live shell and saw of its end: more than one actor may have to know.
 */
final class ShellFate {

  private volatile boolean closing;
  private volatile Optional<String> killedFor = Optional.empty();
  private volatile Optional<ExitStatus> end = Optional.empty();

  boolean isClosing() {
    return closing;
  }

  void closing() {
    closing = true;
  }

  Optional<String> killedFor() {
    return killedFor;
  }

  /**
   * @param reason as in {@code dead_reason}
   */
  void killedFor(String reason) {
    killedFor = Optional.of(reason);
  }

  Optional<ExitStatus> end() {
    return end;
  }

  void ended(ExitStatus status) {
    end = Optional.of(status);
  }
}
