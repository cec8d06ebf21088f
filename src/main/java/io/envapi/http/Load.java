package io.envapi.http;

import io.envapi.id.AccountId;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.apache.pekko.NotUsed;
import org.apache.pekko.stream.Materializer;
import org.apache.pekko.stream.javadsl.Sink;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.util.ByteString;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What each account asks of this node at once, and how much of it is taken on. What is refused was
 * not begun.
 */
final class Load {

  private static final Logger LOG = LoggerFactory.getLogger(Load.class);
  private static final int RETRY_SECONDS = 1;

  /** A stream that nobody has begun to read by then has lost its reader. */
  private static final Duration UNREAD = Duration.ofSeconds(30);

  /** How much one account has in progress; there as long as it has any. */
  private static final class Held {
    private int requests;
    private int streams;
  }

  private final LoadSettings settings;
  private final Buckets<AccountId> rates;
  private final Materializer materializer;
  private final Map<AccountId, Held> held = new ConcurrentHashMap<>();
  private final AtomicInteger requests = new AtomicInteger();
  private final AtomicInteger streams = new AtomicInteger();

  Load(LoadSettings settings, LongSupplier nanos, Materializer materializer) {
    this.settings = settings;
    this.rates = new Buckets<>(settings.requestsPerSecond(), nanos);
    this.materializer = materializer;
  }

  /** Requests of accounts that are not answered yet. */
  int requests() {
    return requests.get();
  }

  /** Streams that are being read. */
  int streams() {
    return streams.get();
  }

  /**
   * Takes on a request; whoever is let in has to {@link #leave}.
   *
   * @param stream whether it asks for a stream, which counts at once
   */
  Optional<Problem> enter(AccountId account, boolean stream) {
    if (!rates.take(account)) {
      return Optional.of(refused("max_requests_per_second", settings.requestsPerSecond()));
    }
    var refusal = new Problem[1];
    held.compute(
        account,
        (_, known) -> {
          Held now = known == null ? new Held() : known;
          if (isOver(now.requests, settings.concurrentRequests())) {
            refusal[0] = refused("max_concurrent_requests", settings.concurrentRequests());
          } else if (stream && isOver(now.streams, settings.streams())) {
            refusal[0] = tooManyStreams();
          } else {
            now.requests++;
            now.streams += stream ? 1 : 0;
          }
          return known == null && refusal[0] != null ? null : now;
        });
    if (refusal[0] != null) {
      return Optional.of(refusal[0]);
    }
    requests.incrementAndGet();
    streams.addAndGet(stream ? 1 : 0);
    return Optional.empty();
  }

  /** A request was answered, or failed, without a stream. */
  void leave(AccountId account, boolean stream) {
    release(account, 1, stream ? 1 : 0);
  }

  /**
   * A request was answered with a stream: counts it until it ends, or refuses it.
   *
   * @param stream whether it counts already
   */
  Answer leave(AccountId account, boolean stream, Answer.Events events) {
    boolean counts = stream || mayRead(account);
    release(account, 1, 0);
    if (!counts) {
      // Whatever waits for its end shall see one.
      events.events().runWith(Sink.cancelled(), materializer);
      return tooManyStreams();
    }
    var over = new AtomicBoolean();
    var begun = new AtomicBoolean();
    Runnable end =
        () -> {
          if (!over.getAndSet(true)) {
            release(account, 0, 1);
          }
        };
    Source<ByteString, NotUsed> counted =
        events
            .events()
            .watchTermination(
                (mat, done) -> {
                  begun.set(true);
                  done.whenComplete((_, _) -> end.run());
                  return mat;
                });
    materializer
        .system()
        .scheduler()
        .scheduleOnce(
            UNREAD,
            () -> {
              if (!begun.get()) {
                LOG.debug("a stream was never read");
                // Whatever waits for its end shall see one.
                counted.runWith(Sink.cancelled(), materializer);
              }
            },
            materializer.executionContext());
    return new Answer.Events(counted);
  }

  private boolean mayRead(AccountId account) {
    var may = new boolean[1];
    held.compute(
        account,
        (_, known) -> {
          Held now = known == null ? new Held() : known;
          may[0] = !isOver(now.streams, settings.streams());
          now.streams += may[0] ? 1 : 0;
          return now;
        });
    streams.addAndGet(may[0] ? 1 : 0);
    return may[0];
  }

  private void release(AccountId account, int endedRequests, int endedStreams) {
    held.computeIfPresent(
        account,
        (_, now) -> {
          now.requests -= endedRequests;
          now.streams -= endedStreams;
          return now.requests == 0 && now.streams == 0 ? null : now;
        });
    requests.addAndGet(-endedRequests);
    streams.addAndGet(-endedStreams);
  }

  private static boolean isOver(int now, int limit) {
    return limit > 0 && now >= limit;
  }

  private Problem tooManyStreams() {
    return refused("max_streams_per_account", settings.streams());
  }

  private static Problem refused(String limit, int maximum) {
    return Problem.of(ProblemCode.TOO_MANY_REQUESTS, "the account asks for too much at once")
        .with("limit", limit)
        .with("maximum", maximum)
        .retryAfter(RETRY_SECONDS);
  }
}
