package io.envapi.idempotency;

import io.envapi.CborSerializable;
import io.envapi.id.EnvironmentId;
import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The keys of a bucket that were used within {@link #KEPT}.
 *
 * @param entries by the digest of the key
 */
public record KeyState(Map<String, Entry> entries) implements CborSerializable {

  /** How long a key is remembered. */
  public static final Duration KEPT = Duration.ofHours(24);

  /** Most keys of a bucket; more are refused, none is forgotten before its time. */
  static final int MOST_KEYS = 5_000;

  /** Most bytes of answers in a bucket, which its actor holds in memory. */
  static final long MOST_BYTES = 2L << 20;

  /** Most bytes of an answer that is kept; there is no room for a key if this does not fit. */
  public static final int LARGEST_ANSWER = 256 << 10;

  static final KeyState EMPTY = new KeyState(Map.of());

  /**
   * A request that came with a key.
   *
   * @param claimant who carries it out; empty when it ended and nobody knows how
   * @param answer once it has one
   */
  public record Entry(
      String request,
      String claimant,
      EnvironmentId environment,
      long claimedAt,
      Optional<StoredAnswer> answer) {

    boolean isExpired(long now) {
      return now - claimedAt >= KEPT.toMillis();
    }
  }

  public KeyState {
    entries = entries == null ? Map.of() : Collections.unmodifiableMap(entries);
  }

  /** The entry of a key that is still remembered. */
  Optional<Entry> find(String key, long now) {
    return Optional.ofNullable(entries.get(key)).filter(e -> !e.isExpired(now));
  }

  /** Whether there is no room for another key. */
  boolean isFull(long now) {
    List<Entry> known = entries.values().stream().filter(e -> !e.isExpired(now)).toList();
    return known.size() >= MOST_KEYS || bytes(known) + LARGEST_ANSWER > MOST_BYTES;
  }

  /** Whether an answer can be kept with its body; many requests may end at once. */
  boolean hasRoomFor(StoredAnswer answer) {
    return bytes(entries.values()) + answer.size() <= MOST_BYTES;
  }

  private static long bytes(Collection<Entry> entries) {
    return entries.stream().mapToLong(e -> e.answer().map(StoredAnswer::size).orElse(0)).sum();
  }

  /** When the first key makes room, in ms from {@code now}. */
  long roomIn(long now) {
    return entries.values().stream()
        .filter(e -> !e.isExpired(now))
        .mapToLong(e -> e.claimedAt() + KEPT.toMillis() - now)
        .min()
        .orElse(0);
  }

  KeyState with(KeyEvent event) {
    var next = new LinkedHashMap<>(entries);
    switch (event) {
      case KeyEvent.KeyClaimed(var key, var request, var claimant, var environment, var at) -> {
        next.values().removeIf(e -> e.isExpired(at));
        next.put(key, new Entry(request, claimant, environment, at, Optional.empty()));
      }
      case KeyEvent.KeyAnswered(var key, var answer) ->
          next.computeIfPresent(
              key,
              (_, e) ->
                  new Entry(
                      e.request(),
                      e.claimant(),
                      e.environment(),
                      e.claimedAt(),
                      Optional.of(answer)));
      case KeyEvent.KeyReleased(var key) -> next.remove(key);
      case KeyEvent.KeyInterrupted(var key) ->
          next.computeIfPresent(
              key,
              (_, e) ->
                  new Entry(e.request(), "", e.environment(), e.claimedAt(), Optional.empty()));
    }
    return new KeyState(next);
  }
}
