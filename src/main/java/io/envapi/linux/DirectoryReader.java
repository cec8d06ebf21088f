package io.envapi.linux;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Optional;

/**
 * The entries of one directory in the file system's order, read in pieces of 64 KiB ({@code
 * getdents64(2)}), so that a directory of any size needs little memory. For one thread.
 */
public final class DirectoryReader implements AutoCloseable {

  private static final int BUFFER = 64 * 1024;
  // struct linux_dirent64
  private static final long LENGTH = 16;
  private static final long TYPE = 18;
  private static final long NAME = 19;
  private static final int DT_UNKNOWN = 0;

  private final FileDescriptor directory;
  private final Arena arena = Arena.ofConfined();
  private final MemorySegment buffer = arena.allocate(BUFFER, Long.BYTES);
  private long filled;
  private long at;

  DirectoryReader(FileDescriptor directory) {
    this.directory = directory;
  }

  /** The next entry other than {@code .} and {@code ..}; empty at the end. */
  public Optional<DirectoryEntry> next() {
    while (true) {
      if (at >= filled) {
        filled = fill();
        at = 0;
        if (filled == 0) {
          return Optional.empty();
        }
      }
      long entry = at;
      int length = Short.toUnsignedInt(buffer.get(JAVA_SHORT, entry + LENGTH));
      at += length;
      byte[] name = name(entry, length);
      if (FileName.isName(name)) {
        FileName found = FileName.of(name);
        return Optional.of(new DirectoryEntry(found, kind(entry, found)));
      }
    }
  }

  private long fill() {
    try {
      return FileCalls.getdents64(directory, buffer);
    } catch (LinuxException e) {
      // The directory was removed while it was open.
      if (e.is(Errno.ENOENT)) {
        return 0;
      }
      throw e;
    }
  }

  private byte[] name(long entry, int length) {
    byte[] padded = buffer.asSlice(entry + NAME, length - NAME).toArray(JAVA_BYTE);
    int end = 0;
    while (end < padded.length && padded[end] != 0) {
      end++;
    }
    return Arrays.copyOf(padded, end);
  }

  private FileKind kind(long entry, FileName name) {
    int type = buffer.get(JAVA_BYTE, entry + TYPE);
    if (type != DT_UNKNOWN) {
      return FileKind.ofType(type);
    }
    try {
      return FileCalls.stat(directory, name.raw()).kind();
    } catch (LinuxException e) {
      return FileKind.OTHER;
    }
  }

  @Override
  public void close() {
    arena.close();
    directory.close();
  }
}
