package io.envapi.linux;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** An open regular file, read and written by position. For one thread at a time. */
public final class DataFile implements AutoCloseable {

  private final FileDescriptor descriptor;

  DataFile(FileDescriptor descriptor) {
    this.descriptor = descriptor;
  }

  public FileStat stat() {
    return FileCalls.stat(descriptor);
  }

  /**
   * Reads at most {@code length} bytes from {@code position} on ({@code pread(2)}).
   *
   * @return the bytes read; 0 at the end
   */
  public int read(byte[] target, int offset, int length, long position) {
    if (length == 0) {
      return 0;
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment buffer = arena.allocate(length);
      int read = FileCalls.pread(descriptor, buffer, position);
      MemorySegment.copy(buffer, JAVA_BYTE, 0, target, offset, read);
      return read;
    }
  }

  /** Writes all of {@code source} from {@code position} on ({@code pwrite(2)}). */
  public void write(byte[] source, int offset, int length, long position) {
    if (length == 0) {
      return;
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment buffer = arena.allocate(length);
      MemorySegment.copy(source, offset, buffer, JAVA_BYTE, 0, length);
      int done = 0;
      while (done < length) {
        done += FileCalls.pwrite(descriptor, buffer.asSlice(done), position + done);
      }
    }
  }

  public void truncate(long length) {
    FileCalls.ftruncate(descriptor, length);
  }

  /** Content and size are on the disk when this returns ({@code fsync(2)}). */
  public void sync() {
    FileCalls.fsync(descriptor);
  }

  public void chown(int uid, int gid) {
    FileCalls.fchown(descriptor, uid, gid);
  }

  public void chmod(int mode) {
    FileCalls.fchmod(descriptor, mode);
  }

  @Override
  public void close() {
    descriptor.close();
  }
}
