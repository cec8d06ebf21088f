package io.envapi.http;

import io.envapi.failure.Failure;
import io.envapi.failure.Unavailable;
import io.envapi.host.IdempotencyKeys;
import io.envapi.idempotency.KeyBucket;
import io.envapi.idempotency.KeyState;
import io.envapi.idempotency.StoredAnswer;
import io.envapi.keyring.Caller;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.StreamSupport;
import org.apache.pekko.http.javadsl.model.HttpHeader;

/**
 * Carries out a request that comes with an {@code Idempotency-Key} once, and gives its answer to
 * all that come after it (draft-ietf-httpapi-idempotency-key-header). For every route that changes
 * something.
 */
final class Idempotent {

  static final String HEADER = "Idempotency-Key";
  static final String PROBLEM = "application/problem+json";

  private static final String DOCUMENT = "application/json";
  private static final Pattern KEY = Pattern.compile("[\\x21-\\x7e]{1,255}");
  private static final Problem NOT_BEGUN = Problems.of(new Failure.AuditUnavailable(false));

  /** Headers that are a part of what is asked for. */
  private static final List<String> TELLING =
      List.of("X-Keyring-Profile", "If-Match", "If-None-Match");

  private static final int RETRY_SECONDS = 5;

  private final IdempotencyKeys keys;

  Idempotent(IdempotencyKeys keys) {
    this.keys = keys;
  }

  /** {@code route}, with regard to the header. */
  RouteTable.ForCaller around(RouteTable.ForCaller route) {
    return (exchange, caller) -> {
      List<String> sent = exchange.headers(HEADER);
      if (sent.isEmpty() || !exchange.changes()) {
        return route.answer(exchange, caller);
      }
      if (sent.size() > 1 || !KEY.matcher(sent.getFirst()).matches()) {
        return Problems.invalid("the key must be 1 to 255 visible ASCII characters, sent once")
            .with("header", HEADER)
            .now();
      }
      if (exchange.wantsEvents()) {
        return Problems.invalid("an answer of server-sent events is not kept for a key")
            .with("header", HEADER)
            .now();
      }
      return exchange.whole((body, whole) -> claim(route, whole, caller, sent.getFirst(), body));
    };
  }

  private CompletionStage<Answer> claim(
      RouteTable.ForCaller route, Exchange exchange, Caller caller, String key, byte[] body) {
    boolean repeatable =
        !exchange.method().equals("POST") || route instanceof RouteTable.Repeatable;
    return keys.claim(caller.account(), key, digest(exchange, body), repeatable)
        .thenCompose(
            claim ->
                switch (claim.reply()) {
                  case KeyBucket.Granted(var drawn) ->
                      carryOut(
                          claim.ticket(),
                          exchange.path(),
                          () -> route.answer(exchange.drawing(drawn), caller));
                  case KeyBucket.Replay(var stored) -> replay(stored).now();
                  case KeyBucket.OtherRequest() ->
                      conflict("the key was used for another request").now();
                  case KeyBucket.StillRunning() ->
                      conflict("the first request with this key still runs")
                          .retryAfter(RETRY_SECONDS)
                          .now();
                  case KeyBucket.Interrupted() ->
                      conflict(
                              "the first request with this key was interrupted and may have taken"
                                  + " effect: look before you send it with another key")
                          .now();
                  case KeyBucket.Full(var seconds) ->
                      Problem.of(
                              ProblemCode.TOO_MANY_REQUESTS,
                              "too many idempotency keys were used in the last 24 hours")
                          .retryAfter((int) Math.min(Integer.MAX_VALUE, seconds))
                          .now();
                });
  }

  private static Problem conflict(String detail) {
    return Problem.of(ProblemCode.IDEMPOTENCY_CONFLICT, detail);
  }

  private static Answer replay(StoredAnswer stored) {
    return stored
        .body()
        .<Answer>map(body -> new Answer.Replayed(stored, body))
        .orElseGet(
            () ->
                conflict(
                    "the first request with this key took effect, but its answer was too large to"
                        + " keep"));
  }

  /** Answers when it is stored how the request ended. */
  private CompletionStage<Answer> carryOut(
      IdempotencyKeys.Ticket ticket, String path, Supplier<CompletionStage<Answer>> request) {
    CompletionStage<Answer> answered;
    try {
      answered = request.get();
    } catch (RuntimeException e) {
      answered = CompletableFuture.failedStage(e);
    }
    return answered
        .handle(
            (answer, failure) -> {
              KeyBucket.Outcome outcome =
                  failure == null ? outcome(answer, path) : outcome(failure);
              CompletionStage<Answer> result =
                  failure == null ? answer.now() : CompletableFuture.failedStage(failure);
              return outcome instanceof KeyBucket.Answered
                  ? keys.finish(ticket, outcome).thenCompose(stored -> result)
                  : keys.finish(ticket, outcome)
                      .handle((stored, late) -> stored)
                      .thenCompose(stored -> result);
            })
        .thenCompose(result -> result);
  }

  private static KeyBucket.Outcome outcome(Throwable failure) {
    return Unavailable.of(failure).filter(Failure.JournalUnavailable.class::isInstance).isPresent()
        ? new KeyBucket.NoEffect()
        : new KeyBucket.Unknown();
  }

  private static KeyBucket.Outcome outcome(Answer answer, String path) {
    return switch (answer) {
      case Problem problem -> outcome(problem, path);
      case Answer.Document(var status, var body, var headers) ->
          answered(status, DOCUMENT, headers, Json.bytes(body));
      case Answer.Nothing() -> answered(204, "", List.of(), new byte[0]);
      case Answer.Bytes bytes -> large(bytes.status());
      case Answer.Events _ -> large(200);
      case Answer.Replayed replayed -> new KeyBucket.Answered(replayed.answer());
    };
  }

  private static KeyBucket.Outcome outcome(Problem problem, String path) {
    return switch (problem.code()) {
      case UNAUTHORIZED,
          TOO_MANY_REQUESTS,
          KEYRING_UNAVAILABLE,
          PREFERENCES_UNAVAILABLE,
          NO_CAPACITY,
          JOURNAL_UNAVAILABLE,
          INSUFFICIENT_STORAGE ->
          new KeyBucket.NoEffect();
      case AUDIT_UNAVAILABLE ->
          problem.equals(NOT_BEGUN) ? new KeyBucket.NoEffect() : new KeyBucket.Unknown();
      // Of input that nobody read a part may have been taken.
      case SANDBOX_ERROR, HOST_UNAVAILABLE, INTERNAL_ERROR -> new KeyBucket.Unknown();
      case FORBIDDEN,
          NOT_FOUND,
          METHOD_NOT_ALLOWED,
          HTTP_ERROR,
          PATH_OUTSIDE_WORKSPACE,
          FILE_CHANGED,
          PAYLOAD_TOO_LARGE,
          VALIDATION_ERROR,
          CONFLICT,
          SHELL_BUSY,
          SHELL_NOT_RUNNING,
          ENVIRONMENT_ARCHIVED,
          NETWORK_DISABLED,
          QUOTA_EXCEEDED,
          IDEMPOTENCY_CONFLICT ->
          answered(problem.status(), PROBLEM, problem.headers(), Json.bytes(problem.body(path)));
    };
  }

  private static KeyBucket.Outcome answered(
      int status, String mediaType, Iterable<HttpHeader> headers, byte[] body) {
    if (body.length > KeyState.LARGEST_ANSWER) {
      return large(status);
    }
    List<StoredAnswer.Header> kept =
        StreamSupport.stream(headers.spliterator(), false)
            .map(header -> new StoredAnswer.Header(header.name(), header.value()))
            .toList();
    return new KeyBucket.Answered(
        new StoredAnswer(
            status, mediaType, kept, Optional.of(new String(body, StandardCharsets.UTF_8))));
  }

  private static KeyBucket.Outcome large(int status) {
    return new KeyBucket.Answered(new StoredAnswer(status, "", List.of(), Optional.empty()));
  }

  /** Of method, path, query and body; a line break is in none of the first three. */
  private static String digest(Exchange exchange, byte[] body) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      String head = exchange.method() + "\n" + exchange.path() + "\n" + exchange.rawQuery() + "\n";
      digest.update(head.getBytes(StandardCharsets.UTF_8));
      for (String name : TELLING) {
        String line = name + ": " + exchange.headers(name) + "\n";
        digest.update(line.getBytes(StandardCharsets.UTF_8));
      }
      return HexFormat.of().formatHex(digest.digest(body));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }
}
