package io.envapi.files;

import java.util.Base64;

/** How content stands in JSON. */
public enum ContentEncoding {
  UTF_8,
  BASE64;

  /**
   * The bytes of {@code text}, which is base64 with its padding (RFC 4648, section 4).
   *
   * @throws IllegalArgumentException when it is not
   */
  public static byte[] fromBase64(String text) {
    // The decoder takes what is cut off for text without padding.
    if (text.length() % 4 != 0) {
      throw new IllegalArgumentException("base64 without its padding");
    }
    return Base64.getDecoder().decode(text);
  }
}
