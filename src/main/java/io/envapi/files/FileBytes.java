package io.envapi.files;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Arrays;

/** A piece of a file on its way between hosts. The array is not copied: nobody changes it. */
public final class FileBytes {

  /** The most bytes in one piece, well below what one message between hosts may be. */
  public static final int MOST = 128 * 1024;

  /** The most bytes in one piece that stays on its host: each one costs the same few messages. */
  public static final int MOST_LOCAL = 1024 * 1024;

  private final byte[] bytes;

  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public FileBytes(byte[] bytes) {
    this.bytes = bytes;
  }

  @JsonValue
  public byte[] array() {
    return bytes;
  }

  public int length() {
    return bytes.length;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof FileBytes that && Arrays.equals(bytes, that.bytes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bytes);
  }

  @Override
  public String toString() {
    return "FileBytes[" + bytes.length + "]";
  }
}
