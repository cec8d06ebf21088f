package io.envapi.http;

import java.util.concurrent.atomic.AtomicLong;

/**
 * What the bodies that are read as a whole may take together, in bytes: a part of the heap. Small
 * ones do not count, and find room when large ones do not.
 */
final class BodyBudget {

  private static final long SMALL = 64 << 10;
  private static final int PART_OF_HEAP = 4;

  private final long most;
  private final AtomicLong taken = new AtomicLong();

  BodyBudget(long most) {
    this.most = most;
  }

  /** With room for at least one of the largest bodies. */
  static BodyBudget of(long maxBodyBytes) {
    return new BodyBudget(Math.max(maxBodyBytes, Runtime.getRuntime().maxMemory() / PART_OF_HEAP));
  }

  /** Whether there is room; what was taken has to be given back. */
  boolean take(long bytes) {
    if (bytes <= SMALL) {
      return true;
    }
    if (taken.addAndGet(bytes) <= most) {
      return true;
    }
    taken.addAndGet(-bytes);
    return false;
  }

  void give(long bytes) {
    if (bytes > SMALL) {
      taken.addAndGet(-bytes);
    }
  }
}
