package io.envapi.sandbox;

import io.envapi.linux.FileDescriptor;
import io.envapi.linux.LinuxException;
import io.envapi.linux.Pty;
import java.nio.file.Path;
import java.util.OptionalInt;

/**
 * A pseudo-terminal for one shell.
 *
 * @param master the service's end, non-blocking
 * @param slave the other end, as the service can open it
 */
public record Terminal(FileDescriptor master, Path slave) {

  /**
   * Takes a pseudo-terminal over, which is closed where this fails.
   *
   * @param owner the uid that its slave is given to, if not the service's
   */
  static Terminal of(Pty pty, OptionalInt owner) {
    try {
      owner.ifPresent(uid -> pty.giveTo(uid, uid));
      return new Terminal(pty.master(), pty.slave());
    } catch (LinuxException e) {
      pty.close();
      throw e;
    }
  }
}
