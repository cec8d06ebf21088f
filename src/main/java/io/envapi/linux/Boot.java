package io.envapi.linux;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;

/** What stays the same until the machine is started again. */
public final class Boot {

  // <bits/confname.h>
  private static final int SC_CLK_TCK = 2;
  private static final int SC_PAGESIZE = 30;

  // long sysconf(int name);
  private static final MethodHandle SYSCONF =
      LibC.downcall("sysconf", FunctionDescriptor.of(JAVA_LONG, JAVA_INT));

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
