package io.envapi.http;

import java.util.HexFormat;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The caller's trace that a request belongs to (W3C Trace Context, {@code traceparent}).
 *
 * @param traceId 32 hex digits
 * @param parentId the caller's span, 16 hex digits
 * @param spanId this request's own span, 16 hex digits
 */
record Trace(String traceId, String parentId, String spanId) {

  static final String HEADER = "traceparent";

  /** Later versions may add members; {@code ff} is none. */
  private static final Pattern PARENT =
      Pattern.compile("(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.{0,256})?");

  private static final Pattern ZEROS = Pattern.compile("0+");

  /** Empty for a header that is none, which is to be treated as if it was not sent. */
  static Optional<Trace> of(String header) {
    Matcher parent = PARENT.matcher(header);
    if (!parent.matches()
        || (parent.group(1).equals("00") && parent.group(4) != null)
        || ZEROS.matcher(parent.group(2)).matches()
        || ZEROS.matcher(parent.group(3)).matches()) {
      return Optional.empty();
    }
    long span = ThreadLocalRandom.current().nextLong();
    String own = HexFormat.of().toHexDigits(span == 0 ? 1 : span);
    return Optional.of(new Trace(parent.group(2), parent.group(3), own));
  }
}
