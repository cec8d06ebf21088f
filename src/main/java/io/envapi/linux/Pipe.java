package io.envapi.linux;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * Both ends of a pipe (pipe(7)); they block until {@link FileDescriptor#setNonBlocking} is called.
 */
public record Pipe(FileDescriptor read, FileDescriptor write) implements AutoCloseable {

  // int pipe2(int fds[2], int flags);
  private static final MethodHandle PIPE2 =
      LibC.downcall("pipe2", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT));

  // <asm-generic/ioctls.h>
  private static final long FIONREAD = 0x541B;

  public static Pipe open() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment fds = arena.allocate(JAVA_INT, 2);
      LibC.call("pipe2", e -> (int) PIPE2.invokeExact(e, fds, Fcntl.O_CLOEXEC));
      return new Pipe(
          new FileDescriptor(fds.getAtIndex(JAVA_INT, 0)),
          new FileDescriptor(fds.getAtIndex(JAVA_INT, 1)));
    }
  }

  /** The bytes it holds before a writer has to wait. */
  public int capacity() {
    return Fcntl.pipeCapacity(write);
  }

  /**
   * Asks for room for at least {@code bytes}; the kernel rounds up.
   *
   * @throws LinuxException {@code EPERM} above {@code /proc/sys/fs/pipe-max-size}
   */
  public void setCapacity(int bytes) {
    Fcntl.setPipeCapacity(write, bytes);
  }

  /** The bytes written and not read yet, asked at either end. */
  public static int queuedBytes(FileDescriptor end) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment count = arena.allocate(JAVA_INT);
      Fcntl.ioctl("ioctl(FIONREAD)", end, FIONREAD, count);
      return count.get(JAVA_INT, 0);
    }
  }

  @Override
  public void close() {
    read.close();
    write.close();
  }
}
