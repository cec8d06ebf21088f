package io.envapi.http;

import java.math.BigInteger;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What part of a file a request wants (RFC 9110, section 14.2). One range of bytes is served; a
 * header that is none, or asks for several, is passed over, as the standard allows.
 */
sealed interface ByteRange {

  record Whole() implements ByteRange {}

  /** From {@code first} to {@code last}, both in it. */
  record Part(long first, long last) implements ByteRange {}

  record Unsatisfiable() implements ByteRange {}

  Pattern FORM = Pattern.compile("(?i:bytes)=[ \t]*([0-9]*)-([0-9]*)[ \t]*");

  /**
   * @param headers the lines of {@code Range}
   * @param ifRange those of {@code If-Range}: the range counts only for this very file
   * @param etag the file's; a weak one is nobody's
   */
  static ByteRange of(List<String> headers, List<String> ifRange, String etag, long size) {
    if (headers.size() != 1 || !ifRange.stream().map(String::strip).allMatch(etag::equals)) {
      return new Whole();
    }
    if (!ifRange.isEmpty() && etag.startsWith("W/")) {
      return new Whole();
    }
    Matcher matcher = FORM.matcher(headers.getFirst().strip());
    return matcher.matches() ? of(matcher.group(1), matcher.group(2), size) : new Whole();
  }

  private static ByteRange of(String from, String to, long size) {
    if (from.isEmpty()) {
      if (to.isEmpty()) {
        return new Whole();
      }
      long suffix = number(to);
      return suffix == 0 || size == 0
          ? new Unsatisfiable()
          : new Part(Math.max(0, size - suffix), size - 1);
    }
    long first = number(from);
    long last = to.isEmpty() ? Long.MAX_VALUE : number(to);
    if (last < first) {
      return new Whole();
    }
    return first >= size ? new Unsatisfiable() : new Part(first, Math.min(last, size - 1));
  }

  /** However long it is: no file is longer than the largest one. */
  private static long number(String digits) {
    return new BigInteger(digits).min(BigInteger.valueOf(Long.MAX_VALUE)).longValue();
  }
}
