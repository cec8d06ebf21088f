package io.envapi.linux;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/** What stays the same until the machine is started again. */
public final class Boot {

  // <bits/confname.h>
  private static final int SC_CLK_TCK = 2;
  private static final int SC_PAGESIZE = 30;

  // long sysconf(int name);
  private static final MethodHandle SYSCONF =
      LibC.downcall("sysconf", FunctionDescriptor.of(JAVA_LONG, JAVA_INT));

  // <linux/time.h>; struct timespec is two longs.
  private static final int CLOCK_BOOTTIME = 7;

  // int clock_gettime(clockid_t clock, struct timespec *now);
  private static final MethodHandle CLOCK_GETTIME =
      LibC.downcall("clock_gettime", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS));

  private static final String ID = read(Path.of("/proc/sys/kernel/random/boot_id"));
  private static final long TICKS_PER_SECOND = sysconf(SC_CLK_TCK);
  private static final long PAGE_SIZE = sysconf(SC_PAGESIZE);

  private Boot() {}

  /** A UUID that each start of the machine draws anew: random(4). */
  public static String id() {
    return ID;
  }

  /** The unit of times in {@code /proc/<pid>/stat}. */
  public static long ticksPerSecond() {
    return TICKS_PER_SECOND;
  }

  /** Bytes of a page of memory. */
  public static long pageSize() {
    return PAGE_SIZE;
  }

  /** Time since the machine was started, sleep included: the base of a process's start. */
  public static Duration uptime() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment now = arena.allocate(JAVA_LONG, 2);
      LibC.call("clock_gettime", e -> (int) CLOCK_GETTIME.invokeExact(e, CLOCK_BOOTTIME, now));
      return Duration.ofSeconds(now.getAtIndex(JAVA_LONG, 0), now.getAtIndex(JAVA_LONG, 1));
    }
  }

  private static long sysconf(int name) {
    return LibC.call("sysconf", e -> (long) SYSCONF.invokeExact(e, name));
  }

  private static String read(Path path) {
    try {
      return Files.readString(path).strip();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
