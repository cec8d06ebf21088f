package io.envapi.http;

import io.envapi.files.IfMatch;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import org.apache.pekko.http.javadsl.model.HttpHeader;
import org.apache.pekko.http.javadsl.model.headers.RawHeader;

/** The headers that the bytes of files come and go with. */
final class FileHeaders {

  private static final DateTimeFormatter DATE =
      DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.ROOT)
          .withZone(ZoneOffset.UTC);

  /** attr-char of RFC 8187 that is no letter or digit. */
  private static final String UNRESERVED = "!#$&+-.^_`|~";

  private FileHeaders() {}

  static IfMatch ifMatch(Exchange exchange) {
    List<String> sent = exchange.headers("If-Match");
    return sent.isEmpty() ? IfMatch.none() : IfMatch.parse(String.join(",", sent));
  }

  static IfMatch ifNoneMatch(Exchange exchange) {
    List<String> sent = exchange.headers("If-None-Match");
    return sent.isEmpty() ? IfMatch.none() : IfMatch.parseWeak(String.join(",", sent));
  }

  static HttpHeader etag(String etag) {
    return RawHeader.create("ETag", etag);
  }

  /**
   * @param modified seconds since the epoch
   */
  static HttpHeader lastModified(long modified) {
    return RawHeader.create("Last-Modified", DATE.format(Instant.ofEpochSecond(modified)));
  }

  /** A browser neither shows nor guesses at what a workspace holds. */
  static List<HttpHeader> attachment(String name) {
    return List.of(
        RawHeader.create("Content-Disposition", disposition(name)),
        RawHeader.create("X-Content-Type-Options", "nosniff"),
        RawHeader.create("Cache-Control", "private, no-cache"));
  }

  /** RFC 6266: the name as RFC 8187 writes it, and one that everybody understands. */
  static String disposition(String name) {
    var plain = new StringBuilder();
    name.codePoints()
        .map(c -> c < ' ' || c > '~' || c == '"' || c == '\\' || c == '/' ? '_' : c)
        .forEach(plain::appendCodePoint);
    String simple = "attachment; filename=\"" + plain + '"';
    return plain.toString().equals(name) ? simple : simple + "; filename*=UTF-8''" + encoded(name);
  }

  private static String encoded(String name) {
    var text = new StringBuilder();
    for (byte each : name.getBytes(StandardCharsets.UTF_8)) {
      char c = (char) (each & 0xff);
      if (c < 0x80 && (Character.isLetterOrDigit(c) || UNRESERVED.indexOf(c) >= 0)) {
        text.append(c);
      } else {
        text.append('%').append("%02X".formatted((int) c));
      }
    }
    return text.toString();
  }
}
