package io.envapi.linux;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;

/**
 * Who the service runs as: geteuid(2), getegid(2).
 *
 * @param uid the effective user
 * @param gid the effective group
 */
public record Credentials(int uid, int gid) {

  private static final MethodHandle GETEUID =
      LibC.downcall("geteuid", FunctionDescriptor.of(JAVA_INT));
  private static final MethodHandle GETEGID =
      LibC.downcall("getegid", FunctionDescriptor.of(JAVA_INT));

  public static Credentials current() {
    return new Credentials(
        (int) LibC.call("geteuid", e -> (int) GETEUID.invokeExact(e)),
        (int) LibC.call("getegid", e -> (int) GETEGID.invokeExact(e)));
  }

  public boolean isRoot() {
    return uid == 0;
  }
}
