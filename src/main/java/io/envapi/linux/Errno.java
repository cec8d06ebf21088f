package io.envapi.linux;

import java.util.Map;

/** The {@code errno} values this service tells apart, from {@code <asm-generic/errno.h>}. */
public final class Errno {
  public static final int EPERM = 1;
  public static final int ENOENT = 2;
  public static final int ESRCH = 3;
  public static final int EINTR = 4;
  public static final int EIO = 5;
  public static final int ENXIO = 6;
  public static final int EBADF = 9;
  public static final int ECHILD = 10;
  public static final int EAGAIN = 11;
  public static final int EACCES = 13;
  public static final int EBUSY = 16;
  public static final int EEXIST = 17;
  public static final int EXDEV = 18;
  public static final int ENOTDIR = 20;
  public static final int EISDIR = 21;
  public static final int EINVAL = 22;
  public static final int EMFILE = 24;
  public static final int EFBIG = 27;
  public static final int ENOSPC = 28;
  public static final int EROFS = 30;
  public static final int EPIPE = 32;
  public static final int ENAMETOOLONG = 36;
  public static final int ENOSYS = 38;
  public static final int ENOTEMPTY = 39;
  public static final int ELOOP = 40;
  public static final int EOPNOTSUPP = 95;
  public static final int EDQUOT = 122;

  private static final Map<Integer, String> NAMES =
      Map.ofEntries(
          Map.entry(EPERM, "EPERM"),
          Map.entry(ENOENT, "ENOENT"),
          Map.entry(ESRCH, "ESRCH"),
          Map.entry(EINTR, "EINTR"),
          Map.entry(EIO, "EIO"),
          Map.entry(ENXIO, "ENXIO"),
          Map.entry(EBADF, "EBADF"),
          Map.entry(ECHILD, "ECHILD"),
          Map.entry(EAGAIN, "EAGAIN"),
          Map.entry(EACCES, "EACCES"),
          Map.entry(EBUSY, "EBUSY"),
          Map.entry(EEXIST, "EEXIST"),
          Map.entry(EXDEV, "EXDEV"),
          Map.entry(ENOTDIR, "ENOTDIR"),
          Map.entry(EISDIR, "EISDIR"),
          Map.entry(EINVAL, "EINVAL"),
          Map.entry(EMFILE, "EMFILE"),
          Map.entry(EFBIG, "EFBIG"),
          Map.entry(ENOSPC, "ENOSPC"),
          Map.entry(EROFS, "EROFS"),
          Map.entry(EPIPE, "EPIPE"),
          Map.entry(ENAMETOOLONG, "ENAMETOOLONG"),
          Map.entry(ENOSYS, "ENOSYS"),
          Map.entry(ENOTEMPTY, "ENOTEMPTY"),
          Map.entry(ELOOP, "ELOOP"),
          Map.entry(EOPNOTSUPP, "EOPNOTSUPP"),
          Map.entry(EDQUOT, "EDQUOT"));

  private Errno() {}

  /** The C name, or {@code errno} and the number for one this service does not know. */
  static String name(int code) {
    return NAMES.getOrDefault(code, "errno");
  }
}
