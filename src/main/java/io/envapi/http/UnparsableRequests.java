package io.envapi.http;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.StreamSupport;
import org.apache.pekko.event.LoggingAdapter;
import org.apache.pekko.http.ParsingErrorHandler;
import org.apache.pekko.http.javadsl.model.HttpHeader;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.model.headers.Connection;
import org.apache.pekko.http.scaladsl.model.ErrorInfo;
import org.apache.pekko.http.scaladsl.model.StatusCode;
import org.apache.pekko.http.scaladsl.settings.ServerSettings;

/** Answers what is no HTTP request. Made by its class name. */
public final class UnparsableRequests extends ParsingErrorHandler {

  private static final String BAD_TARGET = "Illegal request-target";
  private static final Pattern PATH = Pattern.compile("/[^?\n]*");

  /** For the server, which makes it by reflection. */
  public UnparsableRequests() {}

  @Override
  public HttpResponse handle(
      StatusCode status, ErrorInfo error, LoggingAdapter log, ServerSettings settings) {
    Problem problem =
        status.intValue() == 413
            ? Problem.of(ProblemCode.PAYLOAD_TOO_LARGE, "the body is too large")
            : Problems.http(status.intValue(), "this is no request that can be read");
    return Responses.of(problem, path(error), RequestIds.fresh());
  }

  /**
   * Of a target that is no URI the parser tells all; of what is wrong otherwise not even the path.
   */
  private static String path(ErrorInfo error) {
    Matcher target = PATH.matcher(error.detail());
    return error.summary().startsWith(BAD_TARGET) && target.lookingAt() ? target.group() : "/";
  }

  /**
   * Whether a header holds the end of its line. The parser takes what follows the first byte of a
   * UTF-8 character for the rest of it, a line end too: the next header is then part of this one,
   * and a body whose length it told would be the next request.
   */
  static boolean hasBrokenHeader(HttpRequest request) {
    return StreamSupport.stream(request.getHeaders().spliterator(), false)
        .map(HttpHeader::value)
        .anyMatch(value -> value.indexOf('\r') >= 0 || value.indexOf('\n') >= 0);
  }

  /** After it nothing of the connection is read. */
  static HttpResponse broken() {
    Problem problem = Problems.http(400, "a header is not encoded properly");
    return Responses.of(problem, "/", RequestIds.fresh()).addHeader(Connection.create("close"));
  }
}
