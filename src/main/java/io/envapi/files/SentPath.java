package io.envapi.files;

/**
 * A path as the caller wrote it.
 *
 * @param base64 whether {@code text} is the base64 of the path's bytes, the only way to name what
 *     is not UTF-8 or has a backslash in it
 */
public record SentPath(String text, boolean base64) {

  public static SentPath of(String text) {
    return new SentPath(text, false);
  }

  public static SentPath ofBase64(String text) {
    return new SentPath(text, true);
  }
}
