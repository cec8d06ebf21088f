package io.envapi.http;

import org.apache.pekko.event.LoggingAdapter;
import org.apache.pekko.http.ParsingErrorHandler;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.scaladsl.model.ErrorInfo;
import org.apache.pekko.http.scaladsl.model.StatusCode;
import org.apache.pekko.http.scaladsl.settings.ServerSettings;

/** Answers what is no HTTP request, before there is a path to name. Made by its class name. */
public final class UnparsableRequests extends ParsingErrorHandler {

  /** For the server, which makes it by reflection. */
  public UnparsableRequests() {}

  @Override
  public HttpResponse handle(
      StatusCode status, ErrorInfo error, LoggingAdapter log, ServerSettings settings) {
    Problem problem =
        status.intValue() == 413
            ? Problem.of(ProblemCode.PAYLOAD_TOO_LARGE, "the body is too large")
            : Problems.http(status.intValue(), "this is no request that can be read");
    return Front.response(problem, "/", RequestIds.fresh());
  }
}
