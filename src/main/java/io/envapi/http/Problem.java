package io.envapi.http;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import org.apache.pekko.http.javadsl.model.HttpHeader;
import org.apache.pekko.http.javadsl.model.StatusCodes;
import org.apache.pekko.http.javadsl.model.headers.RawHeader;

/**
 * An error as callers get it (RFC 9457).
 *
 * @param members what this kind of error has beyond the members of all
 */
record Problem(
    ProblemCode code, int status, String detail, ObjectNode members, List<HttpHeader> headers)
    implements Answer {

  private static final String TYPE = "urn:environments-api:error:";

  Problem {
    headers = List.copyOf(headers);
  }

  static Problem of(ProblemCode code, String detail) {
    return new Problem(code, code.status(), detail, Json.object(), List.of());
  }

  Problem with(String member, String value) {
    return with(Json.object().put(member, value));
  }

  Problem with(String member, long value) {
    return with(Json.object().put(member, value));
  }

  Problem with(ObjectNode more) {
    ObjectNode all = members.deepCopy();
    all.setAll(more);
    return new Problem(code, status, detail, all, headers);
  }

  Problem header(String name, String value) {
    var all = new ArrayList<>(headers);
    all.add(RawHeader.create(name, value));
    return new Problem(code, status, detail, members, all);
  }

  Problem retryAfter(int seconds) {
    return header("Retry-After", Integer.toString(seconds));
  }

  /**
   * @param instance the path of the request
   */
  ObjectNode body(String instance) {
    ObjectNode body =
        Json.object()
            .put("type", TYPE + code.label())
            .put("title", title())
            .put("status", status)
            .put("detail", detail)
            .put("code", code.label())
            .put("instance", instance);
    body.setAll(members);
    return body;
  }

  /** Of what has no code of its own the status says what it is. */
  private String title() {
    return code == ProblemCode.HTTP_ERROR ? StatusCodes.get(status).reason() : code.title();
  }
}
