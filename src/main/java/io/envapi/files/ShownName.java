package io.envapi.files;

import io.envapi.linux.FileName;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;

/**
 * How names of arbitrary bytes are shown as text. A name in valid UTF-8 is shown as it is. In any
 * other, each byte that belongs to no character, and each backslash, is shown as {@code \xNN}, so
 * that nothing is lost.
 */
final class ShownName {

  private static final HexFormat HEX = HexFormat.of();

  private ShownName() {}

  static String of(FileName name) {
    if (isPlainAscii(name)) {
      return name.toString();
    }
    return of(name.bytes());
  }

  static String of(byte[] bytes) {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException e) {
      return escaped(bytes);
    }
  }

  /** Nearly every name is, and needs no decoder. */
  private static boolean isPlainAscii(FileName name) {
    for (int i = 0; i < name.length(); i++) {
      if (name.at(i) <= 0 || name.at(i) == '\\') {
        return false;
      }
    }
    return true;
  }

  private static String escaped(byte[] bytes) {
    StringBuilder shown = new StringBuilder();
    int at = 0;
    while (at < bytes.length) {
      int length = Utf8Scan.characterLength(bytes, at);
      if (length == 0 || bytes[at] == '\\') {
        shown.append("\\x").append(HEX.toHexDigits(bytes[at]));
        at++;
      } else {
        shown.append(new String(bytes, at, length, StandardCharsets.UTF_8));
        at += length;
      }
    }
    return shown.toString();
  }

  /** The path as shown, {@code .} for the root. */
  static String path(List<FileName> names) {
    if (names.isEmpty()) {
      return ".";
    }
    StringBuilder path = new StringBuilder();
    for (FileName name : names) {
      if (!path.isEmpty()) {
        path.append('/');
      }
      path.append(of(name));
    }
    return path.toString();
  }

  /** The bytes of a name that a text path cannot address. */
  static Optional<String> base64(FileName name) {
    if (isPlainAscii(name)) {
      return Optional.empty();
    }
    byte[] bytes = name.bytes();
    boolean plain = new Utf8Scan().accept(bytes, 0, bytes.length).isText();
    for (byte each : bytes) {
      plain &= each != '\\';
    }
    return plain ? Optional.empty() : Optional.of(Base64.getEncoder().encodeToString(bytes));
  }
}
