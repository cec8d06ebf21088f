package io.envapi.linux;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;
import java.util.Optional;

/**
 * A process held by its descriptor, which never comes to mean another process that got the same
 * number: pidfd_open(2), since Linux 5.3.
 */
public final class PidFd implements AutoCloseable {

  // <asm-generic/unistd.h>; the same on every architecture. The C library wraps them since 2.36
  // only.
  private static final long SYS_PIDFD_SEND_SIGNAL = 424;
  private static final long SYS_PIDFD_OPEN = 434;

  // long syscall(long number, ...);
  private static final MethodHandle PIDFD_OPEN =
      LibC.variadic(
          "syscall", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG), 1);
  private static final MethodHandle PIDFD_SEND_SIGNAL =
      LibC.variadic(
          "syscall",
          FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG),
          1);

  private final FileDescriptor descriptor;

  private PidFd(FileDescriptor descriptor) {
    this.descriptor = descriptor;
  }

  /** The process {@code pid} is now, a zombie included; empty when there is none. */
  public static Optional<PidFd> open(int pid) {
    if (pid <= 0) {
      return Optional.empty();
    }
    try {
      long fd =
          LibC.call(
              "pidfd_open(" + pid + ")",
              e -> (long) PIDFD_OPEN.invokeExact(e, SYS_PIDFD_OPEN, (long) pid, 0L));
      return Optional.of(new PidFd(new FileDescriptor((int) fd)));
    } catch (LinuxException e) {
      // EINVAL, and ENOENT since Linux 6.9: the number of a thread, not of a process.
      if (e.is(Errno.ESRCH) || e.is(Errno.EINVAL) || e.is(Errno.ENOENT)) {
        return Optional.empty();
      }
      throw e;
    }
  }

  /** Sends {@code signal}; false when the process is gone or this service may not signal it. */
  public boolean signal(Signal signal) {
    int fd = descriptor.number();
    try {
      LibC.call(
          "pidfd_send_signal(" + signal + ")",
          e ->
              (long)
                  PIDFD_SEND_SIGNAL.invokeExact(
                      e, SYS_PIDFD_SEND_SIGNAL, (long) fd, (long) signal.number(), 0L, 0L));
      return true;
    } catch (LinuxException e) {
      if (e.is(Errno.ESRCH) || e.is(Errno.EPERM)) {
        return false;
      }
      throw e;
    }
  }

  @Override
  public void close() {
    descriptor.close();
  }
}
