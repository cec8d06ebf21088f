package io.envapi.http;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.envapi.idempotency.StoredAnswer;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.NotUsed;
import org.apache.pekko.http.javadsl.model.HttpHeader;
import org.apache.pekko.http.javadsl.model.headers.RawHeader;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.util.ByteString;

/** What a route answers, before it is an HTTP response. */
sealed interface Answer
    permits Answer.Document, Answer.Nothing, Answer.Events, Answer.Bytes, Answer.Replayed, Problem {

  record Document(int status, ObjectNode body, List<HttpHeader> headers) implements Answer {
    public Document {
      headers = List.copyOf(headers);
    }
  }

  /** 204. */
  record Nothing() implements Answer {}

  /** Server-sent events, each element one or more whole events. */
  record Events(Source<ByteString, NotUsed> events) implements Answer {}

  /**
   * Bytes that are no JSON.
   *
   * @param length of all of them, if known
   */
  record Bytes(
      int status,
      String mediaType,
      List<HttpHeader> headers,
      OptionalLong length,
      Source<ByteString, ?> bytes)
      implements Answer {
    public Bytes {
      headers = List.copyOf(headers);
    }
  }

  /**
   * An answer that was given before.
   *
   * @param body of {@code answer}
   */
  record Replayed(StoredAnswer answer, String body) implements Answer {}

  static Answer ok(ObjectNode body) {
    return new Document(200, body, List.of());
  }

  static Answer created(ObjectNode body) {
    return new Document(201, body, List.of());
  }

  /**
   * @param etag with its quotes
   */
  static Answer tagged(ObjectNode body, String etag) {
    return new Document(200, body, List.of(RawHeader.create("ETag", etag)));
  }

  /** This answer, at once. */
  default CompletionStage<Answer> now() {
    return CompletableFuture.completedStage(this);
  }
}
