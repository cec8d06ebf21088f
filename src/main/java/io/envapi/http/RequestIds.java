package io.envapi.http;

import java.util.HexFormat;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Pattern;
import org.apache.pekko.http.javadsl.model.HttpHeader;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.headers.RawHeader;

/** The id that ties a response and the log lines of its request together. */
final class RequestIds {

  static final String HEADER = "X-Request-Id";

  private static final Pattern SAFE = Pattern.compile("[A-Za-z0-9._-]{1,128}");

  private RequestIds() {}

  /** The caller's own id where it can stand in a log line, else a fresh one. */
  static String of(HttpRequest request) {
    return request
        .getHeader(HEADER)
        .map(HttpHeader::value)
        .filter(id -> SAFE.matcher(id).matches())
        .orElseGet(RequestIds::fresh);
  }

  /** Tells requests apart; guards nothing, so it need not be unguessable. */
  static String fresh() {
    var random = ThreadLocalRandom.current();
    return HexFormat.of().toHexDigits(random.nextLong())
        + HexFormat.of().toHexDigits(random.nextLong());
  }

  static HttpHeader header(String id) {
    return RawHeader.create(HEADER, id);
  }
}
