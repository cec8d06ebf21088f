package io.envapi.http;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

/**
 * A bucket for each of those who are in need of one. When too many are, the rest share one, so that
 * nobody can fill the memory with names.
 */
final class Buckets<K> {

  private static final int MOST = 20_000;

  private final int perSecond;
  private final LongSupplier nanos;
  private final Map<K, Bucket> each = new ConcurrentHashMap<>();
  private final Bucket rest;

  /**
   * @param perSecond 0 for no limit
   */
  Buckets(int perSecond, LongSupplier nanos) {
    this.perSecond = perSecond;
    this.nanos = nanos;
    this.rest = new Bucket(perSecond, nanos.getAsLong());
  }

  boolean take(K key) {
    return perSecond == 0 || ask(bucket(key), bucket -> bucket.take(nanos.getAsLong()));
  }

  /** Whether the next {@link #take} would fail. */
  boolean isEmpty(K key) {
    return perSecond > 0
        && Optional.ofNullable(each.get(key))
            .map(bucket -> ask(bucket, it -> it.isEmpty(nanos.getAsLong())))
            .orElse(false);
  }

  private Bucket bucket(K key) {
    Bucket known = each.get(key);
    if (known != null) {
      return known;
    }
    if (each.size() >= MOST) {
      each.values().removeIf(full -> ask(full, it -> it.isFull(nanos.getAsLong())));
    }
    return each.size() >= MOST
        ? rest
        : each.computeIfAbsent(key, _ -> new Bucket(perSecond, nanos.getAsLong()));
  }

  private static boolean ask(Bucket bucket, Predicate<Bucket> question) {
    synchronized (bucket) {
      return question.test(bucket);
    }
  }
}
