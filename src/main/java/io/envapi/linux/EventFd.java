package io.envapi.linux;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;

/** A descriptor that becomes readable when told to: eventfd(2). */
record EventFd(FileDescriptor descriptor) {

  private static final int EFD_CLOEXEC = 0x8_0000;
  private static final byte[] ONE = {1, 1, 1, 1, 1, 1, 1, 1};

  // int eventfd(unsigned int initval, int flags);
  private static final MethodHandle EVENTFD =
      LibC.downcall("eventfd", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT));

  static EventFd open() {
    return new EventFd(
        new FileDescriptor(
            (int) LibC.call("eventfd", e -> (int) EVENTFD.invokeExact(e, 0, EFD_CLOEXEC))));
  }

  void signal() {
    descriptor.write(ONE, 0, ONE.length);
  }
}
