package io.envapi.keyring;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A value that must not be shown: it prints as fixed text, in a log line or in a record that holds
 * it.
 *
 * <p>It crosses the cluster inside messages, so Jackson can write it; it never belongs into an
 * event. {@link #wipe} clears this copy only: strings made from it, and the one it was made of, are
 * the garbage collector's.
 */
public final class Secret {

  private final byte[] utf8;

  private Secret(byte[] utf8) {
    this.utf8 = utf8;
  }

  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public static Secret of(String value) {
    return new Secret(value.getBytes(StandardCharsets.UTF_8));
  }

  @JsonValue
  public String reveal() {
    return new String(utf8, StandardCharsets.UTF_8);
  }

  /** A copy of the value in UTF-8. */
  public byte[] bytes() {
    return utf8.clone();
  }

  /** Overwrites the value with NULs. */
  public void wipe() {
    Arrays.fill(utf8, (byte) 0);
  }

  /** Compares in time that does not depend on where the values differ. */
  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Secret secret && MessageDigest.isEqual(utf8, secret.utf8);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(utf8);
  }

  @Override
  public String toString() {
    return "[secret]";
  }
}
