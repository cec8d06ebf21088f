package io.envapi.http;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.envapi.failure.Result;
import io.envapi.files.SentPath;
import io.envapi.files.TransferAnswer;
import io.envapi.files.TransferStep;
import io.envapi.host.Environments;
import io.envapi.id.EnvironmentId;
import io.envapi.keyring.Caller;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.pekko.NotUsed;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.util.ByteString;

/** {@code /v1/environments/{id}/files/watch}: what happens to files, as server-sent events. */
final class WatchRoutes {

  private static final int MAX_DEPTH = 10;

  /** How often the host is asked; the kernel collects meanwhile. */
  private static final Duration INTERVAL = Duration.ofMillis(200);

  private static final Duration SILENCE = Duration.ofSeconds(15);

  /** An event's id: the watch and the number of the change. */
  private static final Pattern EVENT_ID = Pattern.compile("([0-9a-f]{24})-([0-9]{1,18})");

  private record Wanted(SentPath path, int depth) {}

  /**
   * An answer of the host.
   *
   * @param last nothing comes after it
   */
  private record Step(List<ByteString> events, boolean last) {}

  private final Environments environments;

  WatchRoutes(Environments environments) {
    this.environments = environments;
  }

  void addTo(RouteTable routes) {
    routes.on("/v1/environments/{environment}/files/watch").get(this::watch);
  }

  private CompletionStage<Answer> watch(Exchange exchange, Caller caller) {
    return exchange.environment(
        id ->
            exchange.query(
                query ->
                    new Wanted(
                        FileBodies.optionalPath(query),
                        (int) query.integer("depth", MAX_DEPTH, 0, MAX_DEPTH)),
                wanted -> watch(exchange, caller, id, wanted)));
  }

  private CompletionStage<Answer> watch(
      Exchange exchange, Caller caller, EnvironmentId id, Wanted wanted) {
    var stream = new FileStream(environments, id);
    Optional<Matcher> resumed =
        exchange.headers("Last-Event-ID").stream()
            .map(EVENT_ID::matcher)
            .filter(Matcher::matches)
            .findFirst();
    if (resumed.isEmpty() || exchange.isHead()) {
      boolean lost = !exchange.headers("Last-Event-ID").isEmpty();
      return open(exchange, caller, stream, wanted, lost);
    }
    String transfer = resumed.get().group(1);
    long after = Long.parseLong(resumed.get().group(2));
    return stream
        .open(caller.account(), new TransferStep.Watch(transfer, after))
        .thenCompose(
            result ->
                switch (result) {
                  case Result.Ok<TransferAnswer>(TransferAnswer.Changes _) ->
                      new Answer.Events(events(exchange, stream, transfer, after, false)).now();
                  // Nobody knows what happened since; the caller has to look for itself.
                  case Result.Ok<TransferAnswer> _, Result.Refused<TransferAnswer> _ ->
                      open(exchange, caller, stream, wanted, true);
                });
  }

  private static CompletionStage<Answer> open(
      Exchange exchange, Caller caller, FileStream stream, Wanted wanted, boolean lost) {
    return stream
        .open(caller.account(), new TransferStep.OpenWatch(wanted.path(), wanted.depth()))
        .thenApply(
            result ->
                switch (result) {
                  case Result.Refused<TransferAnswer>(var failure) -> Problems.of(failure);
                  case Result.Ok<TransferAnswer>(TransferAnswer.Watching(var transfer)) -> {
                    if (exchange.isHead()) {
                      stream.close(transfer);
                      yield new Answer.Events(Source.empty());
                    }
                    yield new Answer.Events(events(exchange, stream, transfer, 0, lost));
                  }
                  case Result.Ok<TransferAnswer>(var other) ->
                      throw RawFileRoutes.unexpected(other);
                });
  }

  /**
   * When the connection ends the watch stays for a while, for who comes back. When the watch ends,
   * as with an environment that is emptied, the last event is {@code error}.
   */
  private static Source<ByteString, NotUsed> events(
      Exchange exchange, FileStream stream, String transfer, long after, boolean lost) {
    var number = new AtomicLong(after);
    var lostOnes =
        new TransferAnswer.Change(0, TransferAnswer.ChangeKind.OVERFLOW, ".", Optional.empty());
    List<ByteString> first =
        lost ? List.of(Sse.COMMENT, event(transfer, lostOnes)) : List.of(Sse.COMMENT);
    Source<ByteString, ?> changes =
        Source.tick(Duration.ZERO, INTERVAL, NotUsed.getInstance())
            .mapAsync(
                1,
                _ ->
                    next(exchange, stream, transfer, number)
                        .exceptionally(failure -> last(exchange, Front.problem(failure))))
            .takeWhile(step -> !step.last(), true)
            .mapConcat(Step::events);
    return Source.from(first).concat(changes).keepAlive(SILENCE, () -> Sse.COMMENT);
  }

  private static CompletionStage<Step> next(
      Exchange exchange, FileStream stream, String transfer, AtomicLong number) {
    return stream
        .step(new TransferStep.Watch(transfer, number.get()))
        .thenApply(
            result ->
                switch (result) {
                  case Result.Ok<TransferAnswer>(TransferAnswer.Changes(var changes)) -> {
                    if (!changes.isEmpty()) {
                      number.set(changes.getLast().number());
                    }
                    yield new Step(changes.stream().map(c -> event(transfer, c)).toList(), false);
                  }
                  case Result.Ok<TransferAnswer>(var other) ->
                      throw RawFileRoutes.unexpected(other);
                  case Result.Refused<TransferAnswer>(var failure) ->
                      last(exchange, Problems.of(failure));
                });
  }

  private static Step last(Exchange exchange, Problem problem) {
    return new Step(List.of(Sse.event("error", problem.body(exchange.path()))), true);
  }

  private static ByteString event(String transfer, TransferAnswer.Change change) {
    String kind = change.kind().name().toLowerCase(Locale.ROOT);
    ObjectNode json = Json.object().put("kind", kind).put("path", change.path());
    change.from().ifPresent(from -> json.put("from", from));
    return Sse.event(kind, transfer + "-" + change.number(), json);
  }
}
