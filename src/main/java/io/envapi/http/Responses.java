package io.envapi.http;

import io.envapi.idempotency.StoredAnswer;
import java.util.List;
import org.apache.pekko.http.javadsl.model.ContentType;
import org.apache.pekko.http.javadsl.model.ContentTypes;
import org.apache.pekko.http.javadsl.model.HttpCharsets;
import org.apache.pekko.http.javadsl.model.HttpEntities;
import org.apache.pekko.http.javadsl.model.HttpHeader;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.model.MediaTypes;
import org.apache.pekko.http.javadsl.model.ResponseEntity;
import org.apache.pekko.http.javadsl.model.StatusCodes;
import org.apache.pekko.http.javadsl.model.headers.Connection;
import org.apache.pekko.http.javadsl.model.headers.RawHeader;
import org.apache.pekko.util.ByteString;

/** Answers as they go over the wire. */
final class Responses {

  private static final ContentType PROBLEM_JSON =
      MediaTypes.applicationWithFixedCharset("problem+json", HttpCharsets.UTF_8).toContentType();
  private static final ContentType EVENT_STREAM = MediaTypes.TEXT_EVENT_STREAM.toContentType();

  /** A proxy that buffered or changed events would break them. */
  private static final List<HttpHeader> EVENT_HEADERS =
      List.of(
          RawHeader.create("Cache-Control", "no-cache, no-transform"),
          RawHeader.create("X-Accel-Buffering", "no"),
          // So that the end of the connection shows that the last event was sent.
          Connection.create("close"));

  private Responses() {}

  static boolean isStream(HttpResponse response) {
    return response.entity().getContentType().equals(EVENT_STREAM);
  }

  /**
   * @param path of the request, for a problem to name
   * @param id of the request
   */
  static HttpResponse of(Answer answer, String path, String id) {
    HttpHeader requestId = RequestIds.header(id);
    return switch (answer) {
      case Answer.Document(var status, var body, var headers) ->
          HttpResponse.create()
              .withStatus(status)
              .addHeaders(headers)
              .addHeader(requestId)
              .withEntity(HttpEntities.create(ContentTypes.APPLICATION_JSON, Json.bytes(body)));
      case Answer.Nothing() ->
          HttpResponse.create().withStatus(StatusCodes.NO_CONTENT).addHeader(requestId);
      case Answer.Events(var events) ->
          HttpResponse.create()
              .addHeaders(EVENT_HEADERS)
              .addHeader(requestId)
              .withEntity(HttpEntities.createChunked(EVENT_STREAM, events));
      case Answer.Bytes bytes ->
          HttpResponse.create()
              .withStatus(bytes.status())
              .addHeaders(bytes.headers())
              .addHeader(requestId)
              .withEntity(entity(bytes));
      case Answer.Replayed(var stored, var body) -> replayed(stored, body).addHeader(requestId);
      case Problem problem ->
          HttpResponse.create()
              .withStatus(problem.status())
              .addHeaders(problem.headers())
              .addHeader(requestId)
              .withEntity(HttpEntities.create(PROBLEM_JSON, Json.bytes(problem.body(path))));
    };
  }

  private static HttpResponse replayed(StoredAnswer stored, String body) {
    HttpResponse response =
        HttpResponse.create()
            .withStatus(stored.status())
            .addHeader(RawHeader.create("Idempotent-Replayed", "true"));
    for (StoredAnswer.Header header : stored.headers()) {
      response = response.addHeader(RawHeader.create(header.name(), header.value()));
    }
    return stored.mediaType().isEmpty()
        ? response
        : response.withEntity(
            HttpEntities.create(
                stored.mediaType().equals(Idempotent.PROBLEM)
                    ? PROBLEM_JSON
                    : ContentTypes.APPLICATION_JSON,
                ByteString.fromString(body)));
  }

  private static ResponseEntity entity(Answer.Bytes bytes) {
    ContentType type = ContentTypes.parse(bytes.mediaType());
    if (bytes.status() == StatusCodes.NOT_MODIFIED.intValue()) {
      return HttpEntities.EMPTY;
    }
    if (bytes.length().isEmpty()) {
      return HttpEntities.createChunked(type, bytes.bytes());
    }
    long length = bytes.length().getAsLong();
    return length == 0
        ? HttpEntities.create(type, ByteString.emptyByteString())
        : HttpEntities.create(type, length, bytes.bytes());
  }
}
