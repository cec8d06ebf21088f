package io.envapi.linux;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What happens to the names in directories ({@code inotify(7)}). The kernel keeps some thousands of
 * events until they are read, then says that it lost some. For one thread at a time.
 */
public final class Inotify implements AutoCloseable {

  // <sys/inotify.h>
  private static final int IN_MODIFY = 0x2;
  private static final int IN_MOVED_FROM = 0x40;
  private static final int IN_MOVED_TO = 0x80;
  private static final int IN_CREATE = 0x100;
  private static final int IN_DELETE = 0x200;
  private static final int IN_MOVE_SELF = 0x800;
  private static final int IN_Q_OVERFLOW = 0x4000;
  private static final int IN_IGNORED = 0x8000;
  private static final int IN_ONLYDIR = 0x100_0000;
  private static final int IN_ISDIR = 0x4000_0000;
  private static final int PLACE = IN_MOVE_SELF | IN_ONLYDIR;
  private static final int WATCHED =
      IN_MODIFY | IN_MOVED_FROM | IN_MOVED_TO | IN_CREATE | IN_DELETE | PLACE;

  private static final int BUFFER = 64 * 1024;
  // struct inotify_event: wd, mask, cookie, len, name
  private static final int HEAD = 16;

  private static final MethodHandle INIT =
      LibC.downcall("inotify_init1", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
  private static final MethodHandle ADD =
      LibC.downcall(
          "inotify_add_watch", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT));
  private static final MethodHandle REMOVE =
      LibC.downcall("inotify_rm_watch", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT));

  /** What happened. */
  public enum Kind {
    MODIFIED,
    MOVED_FROM,
    MOVED_TO,
    CREATED,
    DELETED,
    /** The watched directory itself has another place now. */
    MOVED_AWAY,
    /** The watch is no longer there, nor is the directory unless it was told to forget it. */
    ENDED,
    /** Events were lost; it belongs to no watch. */
    OVERFLOW
  }

  /**
   * One event.
   *
   * @param cookie the same for both sides of one move
   */
  public record Event(
      int watch, Kind kind, boolean directory, int cookie, Optional<FileName> name) {}

  private final FileDescriptor descriptor;

  private Inotify(FileDescriptor descriptor) {
    this.descriptor = descriptor;
  }

  /**
   * @throws LinuxException {@code EMFILE} when the user has too many
   */
  public static Inotify open() {
    int flags = OpenHow.O_CLOEXEC | OpenHow.O_NONBLOCK;
    return new Inotify(
        new FileDescriptor(
            (int) LibC.call("inotify_init1", e -> (int) INIT.invokeExact(e, flags))));
  }

  /**
   * Watches an open directory, which need not stay open; the same answer for the same directory.
   *
   * @throws LinuxException {@code ENOSPC} when the user has too many watches
   */
  public int watch(Directory directory) {
    return watch(directory, WATCHED);
  }

  /** As {@link #watch}, but tells only of the directory itself that it was moved or is gone. */
  public int watchPlace(Directory directory) {
    return watch(directory, PLACE);
  }

  private int watch(Directory directory, int mask) {
    int fd = descriptor.number();
    String held = "/proc/self/fd/" + directory.descriptor().number();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment path = FileCalls.text(arena, held.getBytes(StandardCharsets.US_ASCII));
      return (int) LibC.call("inotify_add_watch", e -> (int) ADD.invokeExact(e, fd, path, mask));
    }
  }

  /** Ends a watch; fine when it is over already. */
  public void forget(int watch) {
    int fd = descriptor.number();
    try {
      LibC.call("inotify_rm_watch", e -> (int) REMOVE.invokeExact(e, fd, watch));
    } catch (LinuxException e) {
      if (!e.is(Errno.EINVAL)) {
        throw e;
      }
    }
  }

  /** Some of the events since the last call; none when there are none now. */
  public List<Event> read() {
    List<Event> events = new ArrayList<>();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment buffer = arena.allocate(BUFFER, Long.BYTES);
      int filled = descriptor.read(buffer);
      long at = 0;
      while (at < filled) {
        int mask = buffer.get(JAVA_INT, at + 4);
        int length = buffer.get(JAVA_INT, at + 12);
        events.add(
            new Event(
                buffer.get(JAVA_INT, at),
                kind(mask),
                (mask & IN_ISDIR) != 0,
                buffer.get(JAVA_INT, at + 8),
                name(buffer.asSlice(at + HEAD, length))));
        at += HEAD + length;
      }
    }
    return events;
  }

  private static Optional<FileName> name(MemorySegment padded) {
    long end = 0;
    while (end < padded.byteSize() && padded.get(JAVA_BYTE, end) != 0) {
      end++;
    }
    byte[] name = padded.asSlice(0, end).toArray(JAVA_BYTE);
    return FileName.isName(name) ? Optional.of(FileName.of(name)) : Optional.empty();
  }

  private static Kind kind(int mask) {
    if ((mask & IN_Q_OVERFLOW) != 0) {
      return Kind.OVERFLOW;
    }
    if ((mask & IN_IGNORED) != 0) {
      return Kind.ENDED;
    }
    if ((mask & IN_MOVE_SELF) != 0) {
      return Kind.MOVED_AWAY;
    }
    if ((mask & IN_CREATE) != 0) {
      return Kind.CREATED;
    }
    if ((mask & IN_DELETE) != 0) {
      return Kind.DELETED;
    }
    if ((mask & IN_MOVED_FROM) != 0) {
      return Kind.MOVED_FROM;
    }
    return (mask & IN_MOVED_TO) != 0 ? Kind.MOVED_TO : Kind.MODIFIED;
  }

  @Override
  public void close() {
    descriptor.close();
  }
}
