package io.envapi.linux;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;

/** fcntl(2), ioctl(2) and open(2) as the classes beside it need them. */
final class Fcntl {

  // <asm-generic/fcntl.h>
  static final int O_RDONLY = 0;
  static final int O_RDWR = 2;
  static final int O_NOCTTY = 0x100;
  static final int O_NONBLOCK = 0x800;
  static final int O_CLOEXEC = 0x8_0000;

  private static final int F_GETFL = 3;
  private static final int F_SETFL = 4;
  private static final int F_DUPFD_CLOEXEC = 1030;
  private static final int F_SETPIPE_SZ = 1031;
  private static final int F_GETPIPE_SZ = 1032;

  // int fcntl(int fd, int cmd, ...);
  private static final MethodHandle FCNTL =
      LibC.variadic("fcntl", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG), 2);
  // int ioctl(int fd, unsigned long request, ...);
  private static final MethodHandle IOCTL =
      LibC.variadic("ioctl", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, ADDRESS), 2);
  private static final MethodHandle IOCTL_VALUE =
      LibC.variadic("ioctl", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG), 2);
  // int open(const char *path, int flags, ...);
  private static final MethodHandle OPEN =
      LibC.variadic("open", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT), 2);

  private Fcntl() {}

  static FileDescriptor open(Path path, int flags) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment name = arena.allocateFrom(path.toString());
      return new FileDescriptor(
          (int)
              LibC.call(
                  "open(" + path + ")",
                  e -> (int) OPEN.invokeExact(e, name, flags | O_CLOEXEC, 0)));
    }
  }

  static FileDescriptor duplicate(FileDescriptor fd) {
    return new FileDescriptor(fcntl("fcntl(F_DUPFD_CLOEXEC)", fd, F_DUPFD_CLOEXEC, 0));
  }

  static void setNonBlocking(FileDescriptor fd) {
    int flags = fcntl("fcntl(F_GETFL)", fd, F_GETFL, 0);
    fcntl("fcntl(F_SETFL)", fd, F_SETFL, flags | O_NONBLOCK);
  }

  static int pipeCapacity(FileDescriptor fd) {
    return fcntl("fcntl(F_GETPIPE_SZ)", fd, F_GETPIPE_SZ, 0);
  }

  static void setPipeCapacity(FileDescriptor fd, int bytes) {
    fcntl("fcntl(F_SETPIPE_SZ)", fd, F_SETPIPE_SZ, bytes);
  }

  static void ioctl(String what, FileDescriptor fd, long request, MemorySegment argument) {
    int number = fd.number();
    LibC.call(what, e -> (int) IOCTL.invokeExact(e, number, request, argument));
  }

  static int ioctl(String what, FileDescriptor fd, long request, long argument) {
    int number = fd.number();
    return (int) LibC.call(what, e -> (int) IOCTL_VALUE.invokeExact(e, number, request, argument));
  }

  private static int fcntl(String what, FileDescriptor fd, int command, long argument) {
    int number = fd.number();
    return (int) LibC.call(what, e -> (int) FCNTL.invokeExact(e, number, command, argument));
  }
}
