package io.envapi.linux;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * What {@code statx(2)} tells of one file.
 *
 * @param mode the permission bits, {@code 07777} at most
 * @param size the apparent size in bytes
 * @param blocks allocated units of 512 bytes
 * @param modifiedSeconds seconds since the epoch, with {@code modifiedNanos} 0..999999999
 * @param changedNanos nanoseconds since the epoch of the last change of content or inode
 * @param device major and minor number; with {@code inode} it identifies a file
 */
public record FileStat(
    FileKind kind,
    int mode,
    int uid,
    int gid,
    long links,
    long size,
    long blocks,
    long modifiedSeconds,
    int modifiedNanos,
    long changedNanos,
    long inode,
    long device) {

  // struct statx, <linux/stat.h>: the same on every architecture.
  static final int SIZE = 256;
  private static final long LINKS = 16;
  private static final long UID = 20;
  private static final long GID = 24;
  private static final long MODE = 28;
  private static final long INODE = 32;
  private static final long BYTES = 40;
  private static final long BLOCKS = 48;
  private static final long CHANGED = 96;
  private static final long MODIFIED = 112;
  private static final long DEVICE_MAJOR = 136;
  private static final long DEVICE_MINOR = 140;
  private static final long NANOS = 8;
  private static final long NANOS_PER_SECOND = 1_000_000_000L;

  static FileStat read(MemorySegment statx) {
    int mode = Short.toUnsignedInt(statx.get(ValueLayout.JAVA_SHORT, MODE));
    return new FileStat(
        FileKind.ofType(mode >> 12),
        mode & 07777,
        number(statx, UID),
        number(statx, GID),
        Integer.toUnsignedLong(number(statx, LINKS)),
        wide(statx, BYTES),
        wide(statx, BLOCKS),
        wide(statx, MODIFIED),
        number(statx, MODIFIED + NANOS),
        wide(statx, CHANGED) * NANOS_PER_SECOND + number(statx, CHANGED + NANOS),
        wide(statx, INODE),
        Integer.toUnsignedLong(number(statx, DEVICE_MAJOR)) << 32
            | Integer.toUnsignedLong(number(statx, DEVICE_MINOR)));
  }

  /** Whether both are of one file, whatever happened to it in between. */
  public boolean isSameFile(FileStat other) {
    return inode == other.inode && device == other.device;
  }

  private static int number(MemorySegment statx, long offset) {
    return statx.get(ValueLayout.JAVA_INT, offset);
  }

  private static long wide(MemorySegment statx, long offset) {
    return statx.get(ValueLayout.JAVA_LONG, offset);
  }
}
