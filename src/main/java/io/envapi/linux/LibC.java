package io.envapi.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/**
 * The link to the C library: the only class that holds a {@link Linker}.
 *
 * <p>The classes beside it keep one {@code static final MethodHandle} per C function, named as in
 * C, made by {@link #downcall} and called through {@link #call}.
 */
final class LibC {

  private static final Linker LINKER = Linker.nativeLinker();
  private static final StructLayout CAPTURE = Linker.Option.captureStateLayout();
  private static final VarHandle ERRNO =
      CAPTURE.varHandle(MemoryLayout.PathElement.groupElement("errno"));

  /** A C function that reports failure by -1 and {@code errno}. */
  @FunctionalInterface
  interface Call {
    long invoke(MemorySegment errno) throws Throwable;
  }

  private LibC() {}

  /**
   * A handle of the C function {@code name}. Its first parameter is the segment that receives
   * {@code errno}, before those of {@code descriptor}.
   */
  static MethodHandle downcall(String name, FunctionDescriptor descriptor) {
    return LINKER.downcallHandle(
        LINKER.defaultLookup().findOrThrow(name),
        descriptor,
        Linker.Option.captureCallState("errno"));
  }

  /**
   * As {@link #downcall}, for a variadic function; {@code fixed} parameters come before the dots.
   */
  static MethodHandle variadic(String name, FunctionDescriptor descriptor, int fixed) {
    return LINKER.downcallHandle(
        LINKER.defaultLookup().findOrThrow(name),
        descriptor,
        Linker.Option.captureCallState("errno"),
        Linker.Option.firstVariadicArg(fixed));
  }

  /**
   * Calls {@code call}, again when a signal interrupted it.
   *
   * @param what the call as it should read in an error, such as {@code openat2("etc")}
   * @return what the function returned
   * @throws LinuxException when it returned -1
   */
  static long call(String what, Call call) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment errno = arena.allocate(CAPTURE);
      while (true) {
        long result = invoke(call, errno);
        if (result != -1) {
          return result;
        }
        int code = (int) ERRNO.get(errno, 0L);
        if (code != Errno.EINTR) {
          throw new LinuxException(what, code);
        }
      }
    }
  }

  private static long invoke(Call call, MemorySegment errno) {
    try {
      return call.invoke(errno);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }
}
