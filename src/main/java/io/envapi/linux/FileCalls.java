package io.envapi.linux;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** The C functions that act on a name in an open directory, and on open files. */
final class FileCalls {

  // <fcntl.h>
  static final int AT_FDCWD = -100;
  static final int AT_REMOVEDIR = 0x200;
  private static final int AT_SYMLINK_NOFOLLOW = 0x100;
  private static final int AT_EMPTY_PATH = 0x1000;
  // <linux/fs.h>, since Linux 3.15
  static final int RENAME_NOREPLACE = 1;
  static final int RENAME_EXCHANGE = 2;
  // <linux/stat.h>
  private static final int STATX_BASIC_STATS = 0x7ff;

  private static final MethodHandle OPENAT =
      LibC.variadic(
          "openat", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT), 3);
  private static final MethodHandle STATX =
      LibC.downcall(
          "statx", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT, ADDRESS));
  private static final MethodHandle MKDIRAT =
      LibC.downcall("mkdirat", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT));
  private static final MethodHandle UNLINKAT =
      LibC.downcall("unlinkat", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT));
  private static final MethodHandle RENAMEAT2 =
      LibC.downcall(
          "renameat2",
          FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT, ADDRESS, JAVA_INT));
  private static final MethodHandle READLINKAT =
      LibC.downcall(
          "readlinkat", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG));
  private static final MethodHandle GETDENTS64 =
      LibC.downcall("getdents64", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG));
  private static final MethodHandle FCHOWN =
      LibC.downcall("fchown", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT));
  private static final MethodHandle FCHMOD =
      LibC.downcall("fchmod", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT));
  private static final MethodHandle CHMOD =
      LibC.downcall("chmod", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT));
  private static final MethodHandle SYMLINKAT =
      LibC.downcall("symlinkat", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT, ADDRESS));
  private static final MethodHandle FCHOWNAT =
      LibC.downcall(
          "fchownat",
          FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT, JAVA_INT));
  private static final MethodHandle FSYNC =
      LibC.downcall("fsync", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
  private static final MethodHandle FTRUNCATE =
      LibC.downcall("ftruncate", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG));
  private static final MethodHandle PREAD =
      LibC.downcall(
          "pread64", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle PWRITE =
      LibC.downcall(
          "pwrite64", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_LONG));

  private FileCalls() {}

  /** {@code bytes} as a C string. */
  static MemorySegment text(Arena arena, byte[] bytes) {
    MemorySegment text = arena.allocate(bytes.length + 1L);
    MemorySegment.copy(bytes, 0, text, JAVA_BYTE, 0, bytes.length);
    return text;
  }

  /** int openat(int dirfd, const char *pathname, int flags, mode_t mode). */
  static FileDescriptor openat(int directory, byte[] name, int flags, int mode) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment path = text(arena, name);
      return new FileDescriptor(
          (int)
              LibC.call(
                  "openat",
                  e ->
                      (int)
                          OPENAT.invokeExact(e, directory, path, flags | OpenHow.O_CLOEXEC, mode)));
    }
  }

  /** {@code statx(2)} of the open file itself. */
  static FileStat stat(FileDescriptor file) {
    return statx(file.number(), new byte[0], AT_EMPTY_PATH);
  }

  /** {@code statx(2)} of a name in a directory; a link is not followed. */
  static FileStat stat(FileDescriptor directory, byte[] name) {
    return statx(directory.number(), name, AT_SYMLINK_NOFOLLOW);
  }

  private static FileStat statx(int fd, byte[] name, int flags) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment path = text(arena, name);
      MemorySegment answer = arena.allocate(FileStat.SIZE, Long.BYTES);
      LibC.call(
          "statx", e -> (int) STATX.invokeExact(e, fd, path, flags, STATX_BASIC_STATS, answer));
      return FileStat.read(answer);
    }
  }

  static void mkdirat(FileDescriptor directory, byte[] name, int mode) {
    int fd = directory.number();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment path = text(arena, name);
      LibC.call("mkdirat", e -> (int) MKDIRAT.invokeExact(e, fd, path, mode));
    }
  }

  /** int symlinkat(const char *target, int newdirfd, const char *linkpath). */
  static void symlinkat(byte[] target, FileDescriptor directory, byte[] name) {
    int fd = directory.number();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment to = text(arena, target);
      MemorySegment path = text(arena, name);
      LibC.call("symlinkat", e -> (int) SYMLINKAT.invokeExact(e, to, fd, path));
    }
  }

  /** Changes the owner of a link itself ({@code fchownat(2)}). */
  static void chownLink(FileDescriptor directory, byte[] name, int uid, int gid) {
    int fd = directory.number();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment path = text(arena, name);
      LibC.call(
          "fchownat", e -> (int) FCHOWNAT.invokeExact(e, fd, path, uid, gid, AT_SYMLINK_NOFOLLOW));
    }
  }

  static void unlinkat(FileDescriptor directory, byte[] name, int flags) {
    int fd = directory.number();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment path = text(arena, name);
      LibC.call("unlinkat", e -> (int) UNLINKAT.invokeExact(e, fd, path, flags));
    }
  }

  static void renameat2(
      FileDescriptor from, byte[] oldName, FileDescriptor to, byte[] newName, int flags) {
    int source = from.number();
    int target = to.number();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment before = text(arena, oldName);
      MemorySegment after = text(arena, newName);
      LibC.call(
          "renameat2", e -> (int) RENAMEAT2.invokeExact(e, source, before, target, after, flags));
    }
  }

  /** The text of a link, cut at {@code limit} bytes. */
  static byte[] readlinkat(FileDescriptor directory, byte[] name, int limit) {
    int fd = directory.number();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment path = text(arena, name);
      MemorySegment buffer = arena.allocate(limit);
      long length =
          LibC.call(
              "readlinkat", e -> (long) READLINKAT.invokeExact(e, fd, path, buffer, (long) limit));
      return buffer.asSlice(0, length).toArray(JAVA_BYTE);
    }
  }

  /** The bytes of entries written to {@code buffer}; 0 at the end. */
  static long getdents64(FileDescriptor directory, MemorySegment buffer) {
    int fd = directory.number();
    return LibC.call(
        "getdents64", e -> (long) GETDENTS64.invokeExact(e, fd, buffer, buffer.byteSize()));
  }

  static void fchown(FileDescriptor file, int uid, int gid) {
    int fd = file.number();
    LibC.call("fchown", e -> (int) FCHOWN.invokeExact(e, fd, uid, gid));
  }

  static void fchmod(FileDescriptor file, int mode) {
    int fd = file.number();
    LibC.call("fchmod", e -> (int) FCHMOD.invokeExact(e, fd, mode));
  }

  /** {@code chmod} of what an {@code O_PATH} descriptor holds, which {@code fchmod} refuses. */
  static void chmodHeld(FileDescriptor file, int mode) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment path = arena.allocateFrom("/proc/self/fd/" + file.number());
      LibC.call("chmod", e -> (int) CHMOD.invokeExact(e, path, mode));
    }
  }

  static void fsync(FileDescriptor file) {
    int fd = file.number();
    LibC.call("fsync", e -> (int) FSYNC.invokeExact(e, fd));
  }

  static void ftruncate(FileDescriptor file, long length) {
    int fd = file.number();
    LibC.call("ftruncate", e -> (int) FTRUNCATE.invokeExact(e, fd, length));
  }

  static int pread(FileDescriptor file, MemorySegment buffer, long position) {
    int fd = file.number();
    return (int)
        LibC.call(
            "pread", e -> (long) PREAD.invokeExact(e, fd, buffer, buffer.byteSize(), position));
  }

  static int pwrite(FileDescriptor file, MemorySegment buffer, long position) {
    int fd = file.number();
    return (int)
        LibC.call(
            "pwrite", e -> (long) PWRITE.invokeExact(e, fd, buffer, buffer.byteSize(), position));
  }
}
