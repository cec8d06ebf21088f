package io.envapi.http;

import io.envapi.failure.Failure;
import io.envapi.id.CommandId;
import io.envapi.id.EnvironmentId;
import io.envapi.id.ShellId;
import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeoutException;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.StreamSupport;
import org.apache.pekko.NotUsed;
import org.apache.pekko.http.javadsl.model.AttributeKeys;
import org.apache.pekko.http.javadsl.model.HttpEntities;
import org.apache.pekko.http.javadsl.model.HttpEntity;
import org.apache.pekko.http.javadsl.model.HttpHeader;
import org.apache.pekko.http.javadsl.model.HttpMethod;
import org.apache.pekko.http.javadsl.model.HttpMethods;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.RemoteAddress;
import org.apache.pekko.http.javadsl.model.RequestEntity;
import org.apache.pekko.http.javadsl.model.headers.TimeoutAccess;
import org.apache.pekko.http.scaladsl.model.EntityStreamSizeException;
import org.apache.pekko.stream.Materializer;
import org.apache.pekko.stream.javadsl.Flow;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.util.ByteString;

/** One request that found its route. */
final class Exchange {

  private static final Failure NO_ROOM = new Failure.NoCapacity(1);

  private final HttpRequest request;
  private final Visit visit;
  private final Map<String, String> parameters;
  private final long maxBodyBytes;
  private final Duration bodyTimeout;
  private final BodyBudget bodies;
  private final Materializer materializer;
  private final Optional<EnvironmentId> drawn;

  Exchange(
      HttpRequest request,
      Visit visit,
      Map<String, String> parameters,
      HttpSettings settings,
      BodyBudget bodies,
      Materializer materializer) {
    this.request = request;
    this.visit = visit;
    this.parameters = parameters;
    this.maxBodyBytes = settings.maxBodyBytes();
    this.bodyTimeout = settings.load().bodyTimeout();
    this.bodies = bodies;
    this.materializer = materializer;
    this.drawn = Optional.empty();
  }

  private Exchange(Exchange same, HttpRequest request, Optional<EnvironmentId> drawn) {
    this.request = request;
    this.visit = same.visit;
    this.parameters = same.parameters;
    this.maxBodyBytes = same.maxBodyBytes;
    this.bodyTimeout = same.bodyTimeout;
    this.bodies = same.bodies;
    this.materializer = same.materializer;
    this.drawn = drawn;
  }

  /** As it stands in the request line. */
  String path() {
    return visit.path();
  }

  /** As the log sees it. */
  Visit visit() {
    return visit;
  }

  /** Where the request comes from; whatever is in front of the service hides it. */
  Optional<InetAddress> client() {
    return request.getAttribute(AttributeKeys.remoteAddress).flatMap(RemoteAddress::getAddress);
  }

  String method() {
    return visit.method();
  }

  /** As it stands in the response and in the log. */
  String requestId() {
    return visit.id();
  }

  /** Whether the path has a variable segment of that name. */
  boolean has(String name) {
    return parameters.containsKey(name);
  }

  /** A variable segment of the path. */
  String parameter(String name) {
    return Objects.requireNonNull(parameters.get(name), name);
  }

  /** The values of a header, one for each line it was sent in. */
  List<String> headers(String name) {
    String lower = name.toLowerCase(Locale.ROOT);
    return StreamSupport.stream(request.getHeaders().spliterator(), false)
        .filter(header -> header.is(lower))
        .map(HttpHeader::value)
        .toList();
  }

  /** The profile that the request names; empty for a blank one. Checked where requests come in. */
  Optional<String> namedProfile() {
    return headers("X-Keyring-Profile").stream()
        .map(String::strip)
        .filter(name -> !name.isEmpty())
        .findFirst();
  }

  /** Completes when the client has hung up, where that is noticed. */
  CompletionStage<Void> gone() {
    return request
        .getAttribute(HangUps.GONE)
        .map(HangUps.Gone::told)
        .orElseGet(CompletableFuture::new);
  }

  /** Whether the caller names server-sent events as an answer, and no less welcome than JSON. */
  boolean wantsEvents() {
    List<AcceptedType> accepted = headers("Accept").stream().flatMap(AcceptedType::parse).toList();
    double events = AcceptedType.weight(accepted, "text/event-stream");
    return events > 0 && events >= AcceptedType.weight(accepted, "application/json");
  }

  /** With the environment that the path names. */
  CompletionStage<Answer> environment(Function<EnvironmentId, CompletionStage<Answer>> then) {
    String id = parameter("environment");
    return found(EnvironmentId.parse(id), Failure.Kind.ENVIRONMENT, id, Function.identity(), then);
  }

  /** With the shell that the path names. */
  CompletionStage<Answer> shell(Function<ShellId, CompletionStage<Answer>> then) {
    String id = parameter("shell");
    return found(ShellId.parse(id), Failure.Kind.SHELL, id, ShellId::environment, then);
  }

  /** With the command that the path names. */
  CompletionStage<Answer> command(Function<CommandId, CompletionStage<Answer>> then) {
    String id = parameter("command");
    return found(
        CommandId.parse(id),
        Failure.Kind.COMMAND,
        id,
        command -> command.shell().environment(),
        then);
  }

  /** With the query, or the answer that says what is wrong with it. */
  <T> CompletionStage<Answer> query(
      Function<Query, T> reader, Function<T, CompletionStage<Answer>> then) {
    return go(Bodies.readQuery(request.getUri().rawQueryString().orElse(""), reader), then);
  }

  /** Whether the request is one that may change something. */
  boolean changes() {
    HttpMethod method = request.method();
    return !method.isSafe();
  }

  String rawQuery() {
    return request.getUri().rawQueryString().orElse("");
  }

  /** The id for an environment that the request makes: the same each time it is carried out. */
  EnvironmentId drawn() {
    return drawn.orElseGet(EnvironmentId::random);
  }

  /** This request with the id for an environment that it makes. */
  Exchange drawing(EnvironmentId id) {
    return new Exchange(this, request, Optional.of(id));
  }

  /** With the whole body, and this request as it is when it has been read. */
  CompletionStage<Answer> whole(BiFunction<byte[], Exchange, CompletionStage<Answer>> then) {
    return read(
        bytes -> {
          var strict =
              request.withEntity(HttpEntities.create(request.entity().getContentType(), bytes));
          return then.apply(bytes, new Exchange(this, strict, drawn));
        });
  }

  /** Whether only the head of the answer is wanted. */
  boolean isHead() {
    return request.method().equals(HttpMethods.HEAD);
  }

  /** What the body's head says of its length; empty when it comes in chunks. */
  Optional<Long> bodyLength() {
    OptionalLong length = request.entity().getContentLengthOption();
    return length.isPresent() ? Optional.of(length.getAsLong()) : Optional.empty();
  }

  /**
   * The body as it arrives, whatever its size. The request takes as long as it takes; it fails with
   * a {@link BrokenBody}.
   */
  Source<ByteString, ?> arriving() {
    request
        .getHeader(TimeoutAccess.class)
        .ifPresent(
            access ->
                access.timeoutAccess().updateTimeout(scala.concurrent.duration.Duration.Inf()));
    return request
        .entity()
        .withoutSizeLimit()
        .getDataBytes()
        .mapError(Throwable.class, failure -> new BrokenBody(String.valueOf(failure.getMessage())));
  }

  Materializer materializer() {
    return materializer;
  }

  /** With the body, or the answer that says what is wrong with it. */
  <T> CompletionStage<Answer> body(
      Function<Fields, T> reader, Function<T, CompletionStage<Answer>> then) {
    return read(bytes -> go(Bodies.read(bytes, reader), then));
  }

  private CompletionStage<Answer> read(Function<byte[], CompletionStage<Answer>> then) {
    BodyBudget.Share share = bodies.share();
    return strict(share)
        .thenCompose(read -> go(read, then))
        .whenComplete((answer, failure) -> share.giveBack());
  }

  private CompletionStage<Bodies.Read<byte[]>> strict(BodyBudget.Share share) {
    RequestEntity entity = request.entity();
    if (entity instanceof HttpEntity.Strict strict) {
      return CompletableFuture.completedStage(
          new Bodies.Read.Accepted<>(strict.getData().toArrayUnsafe()));
    }
    OptionalLong length = entity.getContentLengthOption();
    if (length.orElse(0) > maxBodyBytes) {
      return rejected(Problems.tooLarge(maxBodyBytes));
    }
    if (!share.grow(length.orElse(0))) {
      return rejected(Problems.of(NO_ROOM));
    }
    return (length.isPresent() ? entity : charged(share))
        .withSizeLimit(maxBodyBytes)
        .toStrict(bodyTimeout.toMillis(), maxBodyBytes + 1, materializer)
        .handle(
            (strict, failure) ->
                failure == null
                    ? new Bodies.Read.Accepted<>(strict.getData().toArrayUnsafe())
                    : new Bodies.Read.Rejected<>(unreadable(failure)));
  }

  /** The body when nobody knows how long it will be: it takes what has come. */
  private RequestEntity charged(BodyBudget.Share share) {
    Flow<ByteString, ByteString, NotUsed> charging =
        Flow.of(ByteString.class)
            .map(
                piece -> {
                  if (!share.grow(piece.size())) {
                    throw new BodyBudget.Spent();
                  }
                  return piece;
                });
    return request.transformEntityDataBytes(charging).entity();
  }

  private static <T> CompletionStage<Bodies.Read<T>> rejected(Problem problem) {
    return CompletableFuture.completedStage(new Bodies.Read.Rejected<>(problem));
  }

  private <T> CompletionStage<Answer> found(
      Optional<T> id,
      Failure.Kind kind,
      String sent,
      Function<T, EnvironmentId> environment,
      Function<T, CompletionStage<Answer>> then) {
    id.map(environment).ifPresent(visit::about);
    return id.map(then).orElseGet(() -> Problems.of(new Failure.NotFound(kind, sent)).now());
  }

  private static <T> CompletionStage<Answer> go(
      Bodies.Read<T> read, Function<T, CompletionStage<Answer>> then) {
    return switch (read) {
      case Bodies.Read.Accepted<T>(var value) -> then.apply(value);
      case Bodies.Read.Rejected<T>(var problem) -> problem.now();
    };
  }

  private Problem unreadable(Throwable failure) {
    Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
    return switch (cause) {
      case EntityStreamSizeException _ -> Problems.tooLarge(maxBodyBytes);
      case BodyBudget.Spent _ -> Problems.of(NO_ROOM);
      case TimeoutException _ -> Problems.http(408, "the body did not arrive in time");
      case null, default -> Problems.brokenBody();
    };
  }
}
