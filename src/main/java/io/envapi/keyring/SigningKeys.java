package io.envapi.keyring;

import io.envapi.failure.Failure;
import io.envapi.failure.Result;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The keys held, and when to ask for others: for the first token, when the held ones are past their
 * lifetime, and for an unknown key id. One fetch at a time; those that an unknown id or a failure
 * causes are at least the refetch interval apart. While the keyring is out of reach the held keys
 * go on for a day past their lifetime.
 *
 * <p>Nimbus's own source is not used: its rate limit lets two fetches through per interval, its
 * fetches block the caller, and its clock cannot be set.
 */
final class SigningKeys {

  private static final Logger LOG = LoggerFactory.getLogger(SigningKeys.class);
  private static final Duration GRACE = Duration.ofDays(1);

  private final Supplier<? extends CompletionStage<KeySet>> source;
  private final long lifetime;
  private final long minRefetch;
  private final LongSupplier nanos;

  private @Nullable KeySet held;
  private long heldSince;
  private @Nullable CompletableFuture<Void> inFlight;
  private long attemptedAt;
  private boolean failing;
  private long unknownFrom;

  SigningKeys(
      Supplier<? extends CompletionStage<KeySet>> source,
      Duration lifetime,
      Duration minRefetch,
      LongSupplier nanos) {
    this.source = source;
    this.lifetime = lifetime.toNanos();
    this.minRefetch = minRefetch.toNanos();
    this.nanos = nanos;
    this.unknownFrom = nanos.getAsLong();
  }

  /** The keys held, while they are within their lifetime. */
  synchronized Optional<KeySet> fresh() {
    return isFresh(nanos.getAsLong()) ? Optional.ofNullable(held) : Optional.empty();
  }

  /**
   * The keys to judge a token by; its key id may still not be among them. Refused when there are
   * none at all.
   */
  CompletionStage<Result<KeySet>> judging(String kid) {
    CompletableFuture<Void> awaited;
    synchronized (this) {
      long now = nanos.getAsLong();
      forgetTheTooOld(now);
      boolean known = held != null && held.has(kid);
      boolean fresh = isFresh(now);
      if (known && fresh) {
        return CompletableFuture.completedFuture(answer());
      }
      // What caused no fetch before may do so now; an id that was looked for lately may not.
      if (inFlight == null && mayAttempt(now) && (!fresh || now - unknownFrom >= 0)) {
        if (fresh) {
          unknownFrom = now + minRefetch;
        }
        fetch(now);
      }
      boolean outage = known && failing;
      if (inFlight == null || outage) {
        return CompletableFuture.completedFuture(answer());
      }
      awaited = inFlight;
    }
    return awaited.thenApply(_ -> afterFetch(kid));
  }

  /** How things stand; asks the keyring when they do not stand well and it is time to. */
  CompletionStage<KeyringStatus> status() {
    CompletableFuture<Void> awaited;
    synchronized (this) {
      long now = nanos.getAsLong();
      forgetTheTooOld(now);
      if (inFlight == null && mayAttempt(now) && (failing || !isFresh(now))) {
        fetch(now);
      }
      boolean outage = held != null && failing;
      if (inFlight == null || isFresh(now) || outage) {
        return CompletableFuture.completedFuture(current());
      }
      awaited = inFlight;
    }
    return awaited.thenApply(_ -> current());
  }

  private synchronized KeyringStatus current() {
    if (held == null) {
      return KeyringStatus.UNREACHABLE;
    }
    return failing || !isFresh(nanos.getAsLong()) ? KeyringStatus.STALE : KeyringStatus.OK;
  }

  private synchronized Result<KeySet> afterFetch(String kid) {
    if (held != null && !held.has(kid)) {
      // This fetch, whatever caused it, was also the one this id is entitled to.
      long until = attemptedAt + minRefetch;
      unknownFrom = until - unknownFrom > 0 ? until : unknownFrom;
    }
    return answer();
  }

  private Result<KeySet> answer() {
    return held == null
        ? Result.refused(new Failure.KeyringUnavailable(KeyringStatus.NO_KEYS))
        : Result.ok(held);
  }

  private void forgetTheTooOld(long now) {
    if (held != null && now - heldSince >= lifetime + GRACE.toNanos()) {
      held = null;
    }
  }

  private boolean isFresh(long now) {
    return held != null && now - heldSince < lifetime;
  }

  private boolean mayAttempt(long now) {
    return !failing || now - attemptedAt >= minRefetch;
  }

  private void fetch(long now) {
    var flight = new CompletableFuture<Void>();
    inFlight = flight;
    attemptedAt = now;
    asked().whenComplete((keys, error) -> landed(flight, keys, error));
  }

  /** A source that throws has failed like one that answers badly: the flight must land. */
  private CompletionStage<KeySet> asked() {
    try {
      return source.get();
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private void landed(
      CompletableFuture<Void> flight, @Nullable KeySet keys, @Nullable Throwable error) {
    synchronized (this) {
      inFlight = null;
      failing = keys == null || keys.isEmpty();
      if (keys != null) {
        // A set without a usable key is the keyring's word too: it takes back what it published.
        held = keys.isEmpty() ? null : keys;
        heldSince = attemptedAt;
      }
    }
    if (error != null) {
      LOG.warn("{}: {}", KeyringStatus.NO_KEYS, reason(error));
    } else if (keys != null && keys.isEmpty()) {
      LOG.warn("{}: no usable key is published", KeyringStatus.NO_KEYS);
    }
    flight.complete(null);
  }

  private static String reason(Throwable error) {
    Throwable cause =
        error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
    return cause instanceof IllegalStateException ? "" + cause.getMessage() : cause.toString();
  }
}
