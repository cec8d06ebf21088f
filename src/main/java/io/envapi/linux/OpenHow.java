package io.envapi.linux;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.List;

/**
 * Opening beneath a directory: nothing above it, no link of any kind, no other mount ({@code
 * openat2(2)}, since Linux 5.6). On a kernel, or behind a filter, that lacks the call, each name is
 * opened by itself without following links.
 */
final class OpenHow {

  // <fcntl.h>, x86-64 and the generic values; arm64 swaps O_DIRECTORY and O_NOFOLLOW with others.
  private static final boolean ARM = "aarch64".equals(System.getProperty("os.arch"));
  static final int O_RDONLY = 0;
  static final int O_WRONLY = 1;
  static final int O_RDWR = 2;
  static final int O_CREAT = 0x40;
  static final int O_EXCL = 0x80;
  static final int O_NOCTTY = 0x100;
  static final int O_NONBLOCK = 0x800;
  static final int O_DIRECTORY = ARM ? 0x4000 : 0x10000;
  static final int O_NOFOLLOW = ARM ? 0x8000 : 0x20000;
  static final int O_CLOEXEC = 0x80000;
  static final int O_PATH = 0x200000;

  // <linux/openat2.h>
  private static final long RESOLVE_NO_XDEV = 0x01;
  private static final long RESOLVE_NO_MAGICLINKS = 0x02;
  private static final long RESOLVE_NO_SYMLINKS = 0x04;
  private static final long RESOLVE_BENEATH = 0x08;
  private static final long RESOLVE =
      RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
  private static final long SYS_OPENAT2 = 437;
  private static final long SIZE = 24;

  /** The kernel answers EAGAIN when a rename raced the walk and it cannot tell what it saw. */
  private static final int ATTEMPTS = 128;

  /** PATH_MAX is 4096 with the NUL; longer paths are opened in pieces. */
  private static final int PIECE = 4000;

  private static final MethodHandle SYSCALL =
      LibC.variadic(
          "syscall",
          FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG),
          1);

  private static final boolean AVAILABLE = probe();

  private OpenHow() {}

  private static boolean probe() {
    try (FileDescriptor root = FileCalls.openat(FileCalls.AT_FDCWD, new byte[] {'/'}, O_PATH, 0);
        FileDescriptor again = openat2(root, new byte[] {'.'}, O_PATH)) {
      return again.isOpen();
    } catch (LinuxException e) {
      return false;
    }
  }

  /** Opens the file {@code names} lead to; the directory itself when there are none. */
  static FileDescriptor beneath(FileDescriptor directory, List<FileName> names, int flags) {
    return AVAILABLE ? byKernel(directory, names, flags) : byWalk(directory, names, flags);
  }

  static FileDescriptor byKernel(FileDescriptor directory, List<FileName> names, int flags) {
    FileDescriptor at = directory;
    int from = 0;
    try {
      while (true) {
        int to = from;
        int length = 0;
        while (to < names.size() && (to == from || length + names.get(to).length() < PIECE)) {
          length += names.get(to).length() + 1;
          to++;
        }
        boolean last = to == names.size();
        FileDescriptor next =
            openat2(at, join(names.subList(from, to)), last ? flags : O_PATH | O_DIRECTORY);
        closeStep(at, directory);
        at = directory;
        if (last) {
          return next;
        }
        at = next;
        from = to;
      }
    } finally {
      closeStep(at, directory);
    }
  }

  private static void closeStep(FileDescriptor step, FileDescriptor directory) {
    if (step != directory) {
      step.close();
    }
  }

  private static byte[] join(List<FileName> names) {
    if (names.isEmpty()) {
      return new byte[] {'.'};
    }
    int length = names.size() - 1;
    for (FileName name : names) {
      length += name.length();
    }
    byte[] path = new byte[length];
    int at = 0;
    for (FileName name : names) {
      if (at > 0) {
        path[at++] = '/';
      }
      System.arraycopy(name.raw(), 0, path, at, name.length());
      at += name.length();
    }
    return path;
  }

  /** long syscall(SYS_openat2, int dirfd, const char *pathname, struct open_how *, size_t). */
  private static FileDescriptor openat2(FileDescriptor directory, byte[] path, int flags) {
    int fd = directory.number();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment text = FileCalls.text(arena, path);
      MemorySegment how = arena.allocate(SIZE, Long.BYTES);
      how.set(JAVA_LONG, 0, flags | O_CLOEXEC);
      how.set(JAVA_LONG, 16, RESOLVE);
      for (int attempt = 1; ; attempt++) {
        try {
          return new FileDescriptor(
              (int)
                  LibC.call(
                      "openat2",
                      e -> (long) SYSCALL.invokeExact(e, SYS_OPENAT2, fd, text, how, SIZE)));
        } catch (LinuxException e) {
          if (!e.is(Errno.EAGAIN) || attempt == ATTEMPTS) {
            throw e;
          }
        }
      }
    }
  }

  /** The same promise without {@code openat2}; a mount is noticed by its device number only. */
  static FileDescriptor byWalk(FileDescriptor directory, List<FileName> names, int flags) {
    long device = FileCalls.stat(directory).device();
    FileDescriptor at = directory;
    try {
      for (int i = 0; i < names.size(); i++) {
        boolean last = i == names.size() - 1;
        FileDescriptor next = step(at, names.get(i), last ? flags : O_PATH | O_DIRECTORY, device);
        closeStep(at, directory);
        at = next;
      }
      if (at == directory) {
        return FileCalls.openat(directory.number(), new byte[] {'.'}, flags, 0);
      }
      FileDescriptor found = at;
      at = directory;
      return found;
    } finally {
      closeStep(at, directory);
    }
  }

  private static FileDescriptor step(FileDescriptor at, FileName name, int flags, long device) {
    FileDescriptor next;
    try {
      next = FileCalls.openat(at.number(), name.raw(), flags | O_NOFOLLOW, 0);
    } catch (LinuxException e) {
      // With O_DIRECTORY a link answers ENOTDIR.
      if (e.is(Errno.ENOTDIR) && FileCalls.stat(at, name.raw()).kind() == FileKind.SYMLINK) {
        throw new LinuxException("openat", Errno.ELOOP);
      }
      throw e;
    }
    FileStat stat = FileCalls.stat(next);
    if (stat.kind() == FileKind.SYMLINK || stat.device() != device) {
      next.close();
      throw new LinuxException(
          "openat", stat.kind() == FileKind.SYMLINK ? Errno.ELOOP : Errno.EXDEV);
    }
    return next;
  }
}
