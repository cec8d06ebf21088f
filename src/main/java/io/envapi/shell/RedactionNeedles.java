package io.envapi.shell;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.pekko.util.ByteString;

/**
 * The forms a secret is looked for in: as it is; base64 at any of the three offsets it can have in
 * a longer text, in both alphabets, and wrapped as {@code base64} wraps it; hex; percent-encoded;
 * escaped for JSON and quoted for the shell in each of its ways. Of a secret of several lines each
 * line that is long enough is one by itself, since a terminal, a diff or {@code grep} shows it so.
 *
 * <p>Of base64 in a longer text only the characters that the secret alone determines can be known;
 * up to one at either end stays. Other transformations (reversal, compression, spaces between) are
 * not promised.
 */
final class RedactionNeedles {

  /** A shorter encoded form would turn up by chance. */
  private static final int MIN_ENCODED_CHARS = 8;

  /** Encodings of anything longer would cost more memory than they are worth. */
  private static final int MAX_ENCODED_SECRET_BYTES = 16 * 1024;

  private static final int BASE64_LINE = 76;
  private static final String UNRESERVED = "-._~";
  private static final String UNTOUCHED_BY_SHELLS = "%+,-./:=@_^";

  private RedactionNeedles() {}

  static List<byte[]> of(byte[] secret) {
    Set<String> encoded = new LinkedHashSet<>();
    if (secret.length <= MAX_ENCODED_SECRET_BYTES) {
      base64(secret, encoded);
      encoded.add(HexFormat.of().formatHex(secret));
      encoded.add(HexFormat.of().withUpperCase().formatHex(secret));
      percent(secret, encoded);
      text(secret)
          .ifPresent(
              text -> {
                escaped(text, encoded);
                lines(text, encoded);
              });
    }
    Set<ByteString> needles = new LinkedHashSet<>();
    needles.add(ByteString.fromArray(secret));
    for (String each : encoded) {
      if (each.length() >= MIN_ENCODED_CHARS) {
        needles.add(ByteString.fromString(each, StandardCharsets.UTF_8));
      }
    }
    List<byte[]> all = new ArrayList<>();
    needles.forEach(each -> all.add(each.toArrayUnsafe()));
    return all;
  }

  private static void base64(byte[] secret, Set<String> encoded) {
    for (Base64.Encoder encoder : List.of(Base64.getEncoder(), Base64.getUrlEncoder())) {
      String whole = encoder.encodeToString(secret);
      encoded.add(whole);
      encoded.add(encoder.withoutPadding().encodeToString(secret));
      encoded.add(whole.replaceAll("(.{" + BASE64_LINE + "})(?=.)", "$1\n"));
      for (int before = 0; before < 3; before++) {
        byte[] shifted = new byte[before + secret.length];
        System.arraycopy(secret, 0, shifted, before, secret.length);
        // Sextets that lie wholly within the secret's bits.
        int from = (before * 8 + 5) / 6;
        int to = shifted.length * 8 / 6;
        encoded.add(encoder.encodeToString(shifted).substring(from, to));
      }
    }
  }

  private static void percent(byte[] secret, Set<String> encoded) {
    for (HexFormat hex : List.of(HexFormat.of().withUpperCase(), HexFormat.of())) {
      // RFC 3986; with the slash kept, as for a path; what browsers keep; and as in a form.
      encoded.add(percent(secret, hex, UNRESERVED, "%20"));
      encoded.add(percent(secret, hex, UNRESERVED + "/", "%20"));
      encoded.add(percent(secret, hex, UNRESERVED + "!'()*", "%20"));
      encoded.add(percent(secret, hex, UNRESERVED, "+"));
      encoded.add(percent(secret, hex, "-._*", "+"));
    }
  }

  private static String percent(byte[] secret, HexFormat hex, String kept, String space) {
    var text = new StringBuilder();
    for (byte each : secret) {
      if (isAlphanumeric(each) || kept.indexOf(each) >= 0) {
        text.append((char) each);
      } else if (each == ' ') {
        text.append(space);
      } else {
        text.append('%').append(hex.toHexDigits(each));
      }
    }
    return text.toString();
  }

  private static void lines(String text, Set<String> encoded) {
    List<String> lines = text.lines().map(String::strip).toList();
    if (lines.size() > 1) {
      for (String line : lines) {
        encoded.add(line);
        escaped(line, encoded);
      }
    }
  }

  private static void escaped(String text, Set<String> encoded) {
    encoded.add(json(text, false));
    encoded.add(json(text, true));
    encoded.add(json(text, true).replace("/", "\\/"));
    encoded.add(text.replace("'", "'\\''"));
    encoded.add(text.replaceAll("[\\\\\"$`]", "\\\\$0"));
    encoded.add(text.replace("\\", "\\\\").replace("'", "\\'"));
    encoded.add(ansiC(text));
    var words = new StringBuilder();
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      boolean plain = c > 127 || isAlphanumeric(c) || UNTOUCHED_BY_SHELLS.indexOf(c) >= 0;
      words.append(plain ? "" : "\\").append(c);
    }
    encoded.add(words.toString());
  }

  /** Within {@code $'...'}, as bash prints what has control characters. */
  private static String ansiC(String text) {
    var quoted = new StringBuilder();
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '\'', '\\' -> quoted.append('\\').append(c);
        case '\n' -> quoted.append("\\n");
        case '\r' -> quoted.append("\\r");
        case '\t' -> quoted.append("\\t");
        case '\b' -> quoted.append("\\b");
        case '\f' -> quoted.append("\\f");
        case 0x07 -> quoted.append("\\a");
        case 0x0b -> quoted.append("\\v");
        case 0x1b -> quoted.append("\\E");
        default -> {
          if (c < ' ' || c == 0x7f) {
            quoted.append("\\%03o".formatted((int) c));
          } else {
            quoted.append(c);
          }
        }
      }
    }
    return quoted.toString();
  }

  private static String json(String text, boolean asciiOnly) {
    var json = new StringBuilder();
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '"', '\\' -> json.append('\\').append(c);
        case '\n' -> json.append("\\n");
        case '\r' -> json.append("\\r");
        case '\t' -> json.append("\\t");
        case '\b' -> json.append("\\b");
        case '\f' -> json.append("\\f");
        default -> {
          if (c < ' ' || (asciiOnly && c > '~')) {
            json.append("\\u").append(HexFormat.of().toHexDigits(c));
          } else {
            json.append(c);
          }
        }
      }
    }
    return json.toString();
  }

  private static Optional<String> text(byte[] secret) {
    try {
      return Optional.of(
          StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(secret)).toString());
    } catch (CharacterCodingException e) {
      return Optional.empty();
    }
  }

  private static boolean isAlphanumeric(int c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  }
}
