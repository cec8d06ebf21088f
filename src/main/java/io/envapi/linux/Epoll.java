package io.envapi.linux;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** An epoll(7) set. Any thread may change it while one waits. */
final class Epoll {

  // <sys/epoll.h>
  static final int EPOLLIN = 1;
  static final int EPOLLOUT = 4;
  static final int EPOLLONESHOT = 1 << 30;
  private static final int EPOLL_CLOEXEC = 0x8_0000;
  private static final int EPOLL_CTL_ADD = 1;
  private static final int EPOLL_CTL_DEL = 2;
  private static final int EPOLL_CTL_MOD = 3;

  // struct epoll_event, packed on x86-64 alone.
  private static final boolean PACKED = System.getProperty("os.arch").equals("amd64");
  static final long EVENT_SIZE = PACKED ? 12 : 16;
  static final long EVENT_DATA = PACKED ? 4 : 8;

  /** Events taken from the kernel at a time. */
  static final int BATCH = 256;

  // int epoll_create1(int flags);
  private static final MethodHandle EPOLL_CREATE1 =
      LibC.downcall("epoll_create1", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
  // int epoll_ctl(int epfd, int op, int fd, struct epoll_event *event);
  private static final MethodHandle EPOLL_CTL =
      LibC.downcall(
          "epoll_ctl", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS));
  // int epoll_wait(int epfd, struct epoll_event *events, int max, int timeout);
  private static final MethodHandle EPOLL_WAIT =
      LibC.downcall(
          "epoll_wait", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT));

  private final FileDescriptor descriptor;

  Epoll() {
    descriptor =
        new FileDescriptor(
            (int)
                LibC.call("epoll_create1", e -> (int) EPOLL_CREATE1.invokeExact(e, EPOLL_CLOEXEC)));
  }

  FileDescriptor descriptor() {
    return descriptor;
  }

  void add(FileDescriptor fd, int events, long data) {
    control("epoll_ctl(ADD)", EPOLL_CTL_ADD, fd, events, data);
  }

  void modify(FileDescriptor fd, int events, long data) {
    control("epoll_ctl(MOD)", EPOLL_CTL_MOD, fd, events, data);
  }

  void remove(FileDescriptor fd) {
    control("epoll_ctl(DEL)", EPOLL_CTL_DEL, fd, 0, 0);
  }

  /**
   * Fills {@code data} with that of the descriptors that have events.
   *
   * @param room for {@link #BATCH} events
   * @return how many
   */
  int await(MemorySegment room, long[] data, boolean block) {
    int epoll = descriptor.number();
    int timeout = block ? -1 : 0;
    int count =
        (int)
            LibC.call(
                "epoll_wait", e -> (int) EPOLL_WAIT.invokeExact(e, epoll, room, BATCH, timeout));
    for (int i = 0; i < count; i++) {
      data[i] = room.get(JAVA_LONG_UNALIGNED, i * EVENT_SIZE + EVENT_DATA);
    }
    return count;
  }

  private void control(String what, int operation, FileDescriptor fd, int events, long data) {
    int epoll = descriptor.number();
    int number = fd.number();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment event = arena.allocate(EVENT_SIZE, 8);
      event.set(JAVA_INT_UNALIGNED, 0, events);
      event.set(JAVA_LONG_UNALIGNED, EVENT_DATA, data);
      LibC.call(what, e -> (int) EPOLL_CTL.invokeExact(e, epoll, operation, number, event));
    }
  }
}
