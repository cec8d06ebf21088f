package io.envapi.linux;

/** What a directory entry is; everything that is none of the first three is {@link #OTHER}. */
public enum FileKind {
  REGULAR,
  DIRECTORY,
  SYMLINK,
  /** FIFO, socket or device. */
  OTHER;

  // <sys/stat.h>: S_IFMT and its values, shifted right by 12, are also the DT_ values of
  // <dirent.h>.
  private static final int DIRECTORY_TYPE = 0x4;
  private static final int REGULAR_TYPE = 0x8;
  private static final int SYMLINK_TYPE = 0xa;

  static FileKind ofType(int type) {
    return switch (type) {
      case DIRECTORY_TYPE -> DIRECTORY;
      case REGULAR_TYPE -> REGULAR;
      case SYMLINK_TYPE -> SYMLINK;
      default -> OTHER;
    };
  }
}
