package io.envapi.http;

import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.NotUsed;
import org.apache.pekko.http.javadsl.model.AttributeKey;
import org.apache.pekko.http.javadsl.model.HttpProtocols;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.japi.function.Function;
import org.apache.pekko.stream.Materializer;
import org.apache.pekko.stream.javadsl.Flow;
import org.apache.pekko.stream.javadsl.Sink;

/**
 * Tells when a client has hung up. Pekko HTTP goes on with an answer when a client's side of the
 * connection has ended, and learns that nobody reads from its second write after that, which for an
 * idle stream of events is far away.
 *
 * <p>Not where the client said that the request is its last: there Pekko itself stops reading.
 */
final class HangUps {

  /** When the client ends its side; only on requests for which that is noticed. */
  static final AttributeKey<Gone> GONE = AttributeKey.create("gone", Gone.class);

  /**
   * @param told completes then
   */
  record Gone(CompletableFuture<Void> told) {}

  private HangUps() {}

  /** The requests of one connection, each answered before the next. */
  static Flow<HttpRequest, HttpResponse, NotUsed> watched(
      Function<HttpRequest, CompletionStage<HttpResponse>> handler, Materializer system) {
    return Flow.<HttpRequest, HttpResponse, NotUsed>fromMaterializer(
            (_, _) -> connection(handler, system))
        .mapMaterializedValue(_ -> NotUsed.getInstance());
  }

  private static Flow<HttpRequest, HttpResponse, NotUsed> connection(
      Function<HttpRequest, CompletionStage<HttpResponse>> handler, Materializer system) {
    var gone = new CompletableFuture<Void>();
    return Flow.of(HttpRequest.class)
        .watchTermination(
            (mat, done) -> {
              done.whenComplete((_, _) -> gone.complete(null));
              return mat;
            })
        .mapAsync(
            1,
            request ->
                isLast(request)
                    ? handler.apply(request)
                    : handler
                        .apply(request.addAttribute(GONE, new Gone(gone)))
                        .thenApply(response -> ended(response, gone, system)));
  }

  /** Whatever waits for the end of a stream that nobody will begin to read shall see one. */
  private static HttpResponse ended(
      HttpResponse response, CompletableFuture<Void> gone, Materializer system) {
    if (gone.isDone() && Responses.isStream(response)) {
      response.entity().getDataBytes().runWith(Sink.cancelled(), system);
    }
    return response;
  }

  private static boolean isLast(HttpRequest request) {
    return request.protocol().equals(HttpProtocols.HTTP_1_0)
        || request
            .getHeader("Connection")
            .filter(header -> header.value().toLowerCase(Locale.ROOT).contains("close"))
            .isPresent();
  }
}
