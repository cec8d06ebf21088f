package io.envapi.linux;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;

/** A file in memory that has no name and ends with its last descriptor: memfd_create(2). */
public final class Memfd implements AutoCloseable {

  private static final int MFD_CLOEXEC = 1;
  private static final int READABLE_BY_ALL = 0444;

  // int memfd_create(const char *name, unsigned int flags);
  private static final MethodHandle MEMFD_CREATE =
      LibC.downcall("memfd_create", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT));
  // int ftruncate(int fd, off_t length);
  private static final MethodHandle FTRUNCATE =
      LibC.downcall("ftruncate", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG));
  // ssize_t pwrite(int fd, const void *buf, size_t count, off_t offset);
  private static final MethodHandle PWRITE =
      LibC.downcall(
          "pwrite", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_LONG));
  // int fchmod(int fd, mode_t mode);
  private static final MethodHandle FCHMOD =
      LibC.downcall("fchmod", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT));

  private final FileDescriptor descriptor;

  private Memfd(FileDescriptor descriptor) {
    this.descriptor = descriptor;
  }

  /**
   * An empty one, which users other than the service's can open for reading only.
   *
   * @param name what {@code /proc} shows for it
   */
  public static Memfd create(String name) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment shown = arena.allocateFrom(name);
      int fd =
          (int)
              LibC.call("memfd_create", e -> (int) MEMFD_CREATE.invokeExact(e, shown, MFD_CLOEXEC));
      FileDescriptor descriptor = new FileDescriptor(fd);
      try {
        LibC.call("fchmod", e -> (int) FCHMOD.invokeExact(e, fd, READABLE_BY_ALL));
        return new Memfd(descriptor);
      } catch (LinuxException e) {
        descriptor.close();
        throw e;
      }
    }
  }

  /** Makes {@code content} all that it holds. */
  public void replace(byte[] content) {
    int fd = descriptor.number();
    LibC.call("ftruncate", e -> (int) FTRUNCATE.invokeExact(e, fd, 0L));
    int done = 0;
    while (done < content.length) {
      done += writeAt(done, content, done, content.length - done);
    }
  }

  /** An open file of its own on it, with an offset of its own, for reading only. */
  public FileDescriptor openReadOnly() {
    return Fcntl.open(Path.of("/proc/self/fd/" + descriptor.number()), Fcntl.O_RDONLY);
  }

  private int writeAt(long position, byte[] source, int offset, int length) {
    int fd = descriptor.number();
    try (Scratch scratch = Scratch.take(length)) {
      MemorySegment buffer = scratch.memory();
      MemorySegment.copy(source, offset, buffer, JAVA_BYTE, 0, scratch.length());
      return (int)
          LibC.call(
              "pwrite", e -> (long) PWRITE.invokeExact(e, fd, buffer, buffer.byteSize(), position));
    }
  }

  @Override
  public void close() {
    descriptor.close();
  }
}
