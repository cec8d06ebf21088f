package io.envapi.process;

import com.fasterxml.jackson.annotation.JsonIgnore;
import io.envapi.linux.Boot;
import io.envapi.linux.PidFd;
import io.envapi.linux.Signal;
import java.util.Optional;

/**
 * A process and no other: its number alone proves nothing once the kernel gave it away again.
 *
 * @param startTicks field 22 of {@code /proc/<pid>/stat}
 * @param bootId the boot that {@code startTicks} counts from
 */
public record ProcessIdentity(int pid, long startTicks, String bootId) {

  /** The process that has the number now, a zombie included. */
  public static Optional<ProcessIdentity> of(int pid) {
    return ProcFs.stat(pid).map(ProcessIdentity::of);
  }

  static ProcessIdentity of(ProcFs.Stat stat) {
    return new ProcessIdentity(stat.pid(), stat.startTicks(), Boot.id());
  }

  /** Whether it runs; a zombie does not. */
  @JsonIgnore
  public boolean isAlive() {
    return ProcFs.stat(pid).filter(stat -> is(stat) && !stat.ended()).isPresent();
  }

  /**
   * Sends a signal to it; false when it has ended, was another process, or may not be signalled.
   *
   * <p>The descriptor is opened before the start is compared: what the comparison then finds is the
   * process the descriptor holds, whatever becomes of the number.
   */
  public boolean signal(Signal signal) {
    Optional<PidFd> opened = PidFd.open(pid);
    if (opened.isEmpty()) {
      return false;
    }
    try (PidFd descriptor = opened.get()) {
      return isAlive() && descriptor.signal(signal);
    }
  }

  boolean is(ProcFs.Stat stat) {
    return stat.pid() == pid && stat.startTicks() == startTicks && bootId.equals(Boot.id());
  }
}
