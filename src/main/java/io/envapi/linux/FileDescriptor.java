package io.envapi.linux;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * An open descriptor, owned by one holder who closes it once. Always close-on-exec.
 *
 * <p>Closing while another thread is inside a call on it is the holder's mistake: the kernel may
 * give the number to somebody else. Holders serialize use and close.
 */
public final class FileDescriptor implements AutoCloseable {

  // int close(int fd); ssize_t read(int, void *, size_t); ssize_t write(int, const void *, size_t);
  private static final MethodHandle CLOSE =
      LibC.downcall("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
  private static final MethodHandle READ =
      LibC.downcall("read", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG));
  private static final MethodHandle WRITE =
      LibC.downcall("write", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG));

  // int fchown(int fd, uid_t owner, gid_t group);
  private static final MethodHandle FCHOWN =
      LibC.downcall("fchown", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT));

  /** What {@link #read} answers when a non-blocking descriptor has nothing to give now. */
  public static final int WOULD_BLOCK = -1;

  private final int number;
  private final AtomicBoolean closed = new AtomicBoolean();

  FileDescriptor(int number) {
    this.number = number;
  }

  /** The number, for the calls of this package. */
  int number() {
    if (closed.get()) {
      throw new LinuxException("fd", Errno.EBADF);
    }
    return number;
  }

  /**
   * Reads at most {@code length} bytes into {@code target}, and at most 64 KiB.
   *
   * @return the bytes read, 0 at the end, or {@link #WOULD_BLOCK}
   */
  public int read(byte[] target, int offset, int length) {
    try (Scratch scratch = Scratch.take(length)) {
      MemorySegment buffer = scratch.memory();
      int read = read(buffer);
      if (read > 0) {
        MemorySegment.copy(buffer, JAVA_BYTE, 0, target, offset, read);
      }
      return read;
    }
  }

  /** As {@link #read(byte[], int, int)}, filling at most all of {@code buffer}. */
  int read(MemorySegment buffer) {
    int fd = number();
    try {
      return (int)
          LibC.call("read", e -> (long) READ.invokeExact(e, fd, buffer, buffer.byteSize()));
    } catch (LinuxException e) {
      if (e.is(Errno.EAGAIN)) {
        return WOULD_BLOCK;
      }
      throw e;
    }
  }

  /**
   * Writes at most {@code length} bytes of {@code source}, and at most 64 KiB.
   *
   * @return the bytes written, 0 when a non-blocking descriptor takes none now
   * @throws LinuxException with {@code EPIPE} when nobody can read them any more
   */
  public int write(byte[] source, int offset, int length) {
    try (Scratch scratch = Scratch.take(length)) {
      return write(source, offset, scratch);
    }
  }

  private int write(byte[] source, int offset, Scratch scratch) {
    int fd = number();
    try {
      MemorySegment buffer = scratch.memory();
      MemorySegment.copy(source, offset, buffer, JAVA_BYTE, 0, scratch.length());
      return (int)
          LibC.call("write", e -> (long) WRITE.invokeExact(e, fd, buffer, buffer.byteSize()));
    } catch (LinuxException e) {
      if (e.is(Errno.EAGAIN)) {
        return 0;
      }
      throw e;
    }
  }

  /** Writes all of {@code source} to a descriptor that blocks. */
  public void writeAll(byte[] source) {
    int done = 0;
    while (done < source.length) {
      done += write(source, done, source.length - done);
    }
  }

  /**
   * As {@link #writeAll}, and of what was written nothing stays in this process: the array is
   * overwritten, and the copy that was given to the kernel.
   */
  public void writeAllAndWipe(byte[] source) {
    try (Scratch scratch = Scratch.take(source.length)) {
      try {
        int done = 0;
        while (done < source.length) {
          done += write(source, done, scratch.of(source.length - done));
        }
      } finally {
        scratch.memory().fill((byte) 0);
        Arrays.fill(source, (byte) 0);
      }
    }
  }

  /** Makes a user and a group the owners of the file: fchown(2). */
  public void giveTo(int uid, int gid) {
    int fd = number();
    LibC.call("fchown", e -> (int) FCHOWN.invokeExact(e, fd, uid, gid));
  }

  /** Another descriptor of the same open file, with its own life. */
  public FileDescriptor duplicate() {
    return Fcntl.duplicate(this);
  }

  /** Reads and writes give up instead of waiting, for every descriptor of the same open file. */
  public void setNonBlocking() {
    Fcntl.setNonBlocking(this);
  }

  /** What {@code /proc/<pid>/fd} shows of it, as {@code pipe:[4711]}: the same in every process. */
  public String link() {
    try {
      return Files.readSymbolicLink(Path.of("/proc/self/fd/" + number())).toString();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public boolean isOpen() {
    return !closed.get();
  }

  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      // Linux releases the number even when close reports an error, so there is nothing to retry.
      try {
        LibC.call("close", e -> (int) CLOSE.invokeExact(e, number));
      } catch (LinuxException ignored) {
        return;
      }
    }
  }

  @Override
  public String toString() {
    return "fd" + number;
  }
}
