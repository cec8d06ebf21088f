package io.envapi.linux;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** Resource limits of a process: prlimit(2). */
public final class Rlimits {

  /** A resource, in the unit of getrlimit(2): seconds for CPU, bytes or a count for the others. */
  public enum Resource {
    CPU(0),
    FSIZE(1),
    CORE(4),
    NPROC(6),
    NOFILE(7),
    AS(9);

    private final int number;

    Resource(int number) {
      this.number = number;
    }
  }

  /** A limit and how far the process itself may raise it. */
  public record Limit(long soft, long hard) {}

  /** No limit. */
  public static final long INFINITY = -1;

  static final long RLIMIT_SIZE = 16;

  // int prlimit(pid_t pid, int resource, const struct rlimit *new, struct rlimit *old);
  private static final MethodHandle PRLIMIT =
      LibC.downcall(
          "prlimit", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, ADDRESS));

  private Rlimits() {}

  /**
   * Limits a process and what it starts from now on; children it has already keep theirs.
   *
   * @return false when it is gone
   * @throws LinuxException {@code EPERM} for a hard limit above the present one without privilege
   */
  public static boolean set(int pid, Resource resource, long soft, long hard) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment limit = arena.allocate(RLIMIT_SIZE, 8);
      limit.setAtIndex(JAVA_LONG, 0, soft);
      limit.setAtIndex(JAVA_LONG, 1, hard);
      prlimit(pid, resource, limit, MemorySegment.NULL);
      return true;
    } catch (LinuxException e) {
      if (e.is(Errno.ESRCH)) {
        return false;
      }
      throw e;
    }
  }

  public static Limit get(int pid, Resource resource) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment limit = arena.allocate(RLIMIT_SIZE, 8);
      prlimit(pid, resource, MemorySegment.NULL, limit);
      return new Limit(limit.getAtIndex(JAVA_LONG, 0), limit.getAtIndex(JAVA_LONG, 1));
    }
  }

  private static void prlimit(
      int pid, Resource resource, MemorySegment change, MemorySegment present) {
    LibC.call(
        "prlimit(" + resource + ")",
        e -> (int) PRLIMIT.invokeExact(e, pid, resource.number, change, present));
  }
}
