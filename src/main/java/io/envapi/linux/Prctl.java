package io.envapi.linux;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** prctl(2) and seccomp(2), as far as this service needs them. */
final class Prctl {

  // <linux/prctl.h>, <linux/seccomp.h>
  private static final int PR_SET_CHILD_SUBREAPER = 36;
  private static final int PR_SET_NO_NEW_PRIVS = 38;
  private static final long SECCOMP_SET_MODE_FILTER = 1;
  private static final long SYS_SECCOMP =
      System.getProperty("os.arch").equals("aarch64") ? 277 : 317;

  /** {@code struct sock_filter}. */
  static final int INSTRUCTION_SIZE = 8;

  // struct sock_fprog
  static final long SOCK_FPROG_SIZE = 16;
  static final long SOCK_FPROG_FILTER = 8;

  // int prctl(int option, ...);
  private static final MethodHandle PRCTL =
      LibC.variadic(
          "prctl",
          FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG),
          1);
  // long syscall(long number, ...);
  private static final MethodHandle SECCOMP =
      LibC.variadic(
          "syscall", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, ADDRESS), 1);

  private Prctl() {}

  /** Orphaned descendants become children of this process; for the whole process. */
  static void becomeSubreaper() {
    prctl("prctl(PR_SET_CHILD_SUBREAPER)", PR_SET_CHILD_SUBREAPER);
  }

  /** The calling thread and what it starts gain no privilege by exec. */
  static void noNewPrivileges() {
    prctl("prctl(PR_SET_NO_NEW_PRIVS)", PR_SET_NO_NEW_PRIVS);
  }

  /** Loads a filter for the calling thread and what it starts, for ever. */
  static void loadFilter(byte[] filter) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment code = arena.allocate(filter.length, 8);
      MemorySegment.copy(filter, 0, code, JAVA_BYTE, 0, filter.length);
      MemorySegment program = arena.allocate(SOCK_FPROG_SIZE, 8);
      program.set(JAVA_SHORT, 0, (short) (filter.length / INSTRUCTION_SIZE));
      program.set(ADDRESS, SOCK_FPROG_FILTER, code);
      LibC.call(
          "seccomp(SECCOMP_SET_MODE_FILTER)",
          e -> (long) SECCOMP.invokeExact(e, SYS_SECCOMP, SECCOMP_SET_MODE_FILTER, 0L, program));
    }
  }

  private static void prctl(String what, int option) {
    LibC.call(what, e -> (int) PRCTL.invokeExact(e, option, 1L, 0L, 0L, 0L));
  }
}
