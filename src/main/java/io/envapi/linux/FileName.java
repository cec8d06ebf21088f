package io.envapi.linux;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * One name in a directory, as the bytes the kernel keeps: never empty, never {@code .} or {@code
 * ..}, without {@code /} and NUL. Ordered by unsigned bytes.
 */
public final class FileName implements Comparable<FileName> {

  private final byte[] bytes;

  /** The first bytes, and NUL after a shorter name: most comparisons need no more. */
  private final long head;

  private FileName(byte[] bytes) {
    this.bytes = bytes;
    this.head = head(bytes);
  }

  private static long head(byte[] bytes) {
    long head = 0;
    for (int i = 0; i < Long.BYTES; i++) {
      head = head << Byte.SIZE | (i < bytes.length ? bytes[i] & 0xff : 0);
    }
    return head;
  }

  /**
   * The name of these bytes.
   *
   * @throws IllegalArgumentException when no directory can hold such a name
   */
  public static FileName of(byte[] bytes) {
    if (!isName(bytes)) {
      throw new IllegalArgumentException("not a file name");
    }
    return new FileName(bytes.clone());
  }

  /** The name that is {@code text} in UTF-8. */
  public static FileName of(String text) {
    return of(text.getBytes(StandardCharsets.UTF_8));
  }

  /** Whether a directory can hold an entry of this name; its length is the file system's matter. */
  public static boolean isName(byte[] bytes) {
    for (byte each : bytes) {
      if (each == 0 || each == '/') {
        return false;
      }
    }
    return switch (bytes.length) {
      case 0 -> false;
      case 1 -> bytes[0] != '.';
      case 2 -> bytes[0] != '.' || bytes[1] != '.';
      default -> true;
    };
  }

  public byte[] bytes() {
    return bytes.clone();
  }

  public int length() {
    return bytes.length;
  }

  public byte at(int index) {
    return bytes[index];
  }

  /** The bytes themselves, for the calls of this package. */
  byte[] raw() {
    return bytes;
  }

  @Override
  public int compareTo(FileName other) {
    int heads = Long.compareUnsigned(head, other.head);
    return heads != 0 ? heads : Arrays.compareUnsigned(bytes, other.bytes);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof FileName name && Arrays.equals(bytes, name.bytes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bytes);
  }

  /** For people; invalid UTF-8 shows as U+FFFD. */
  @Override
  public String toString() {
    return new String(bytes, StandardCharsets.UTF_8);
  }
}
