package io.envapi.linux;

/**
 * A system call that failed; the message names the call and the error, as {@code kill: ESRCH (3)}.
 */
public final class LinuxException extends RuntimeException {

  private final int errno;

  LinuxException(String call, int errno) {
    super(call + ": " + Errno.name(errno) + " (" + errno + ")");
    this.errno = errno;
  }

  /** The error number; one of {@link Errno}'s where this service knows it. */
  public int errno() {
    return errno;
  }

  public boolean is(int code) {
    return errno == code;
  }
}
