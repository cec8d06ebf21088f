package io.envapi.http;

/** A bucket of tokens that fills itself. Not safe for use by several threads. */
final class Bucket {

  private static final double NANOS = 1e9;

  private final double perSecond;
  private final double capacity;
  private double tokens;
  private long filledAt;

  /** A full one, which holds two seconds' worth. */
  Bucket(double perSecond, long nanos) {
    this.perSecond = perSecond;
    this.capacity = 2 * perSecond;
    this.tokens = capacity;
    this.filledAt = nanos;
  }

  boolean take(long nanos) {
    fill(nanos);
    if (tokens < 1) {
      return false;
    }
    tokens--;
    return true;
  }

  boolean isEmpty(long nanos) {
    fill(nanos);
    return tokens < 1;
  }

  boolean isFull(long nanos) {
    fill(nanos);
    return tokens == capacity;
  }

  private void fill(long nanos) {
    tokens = Math.min(capacity, tokens + (nanos - filledAt) / NANOS * perSecond);
    filledAt = nanos;
  }
}
