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

  /** What one body takes, which has to be given back. */
  Share share() {
    return new Share();
  }

  /** What one body takes, as far as it is known. */
  final class Share {

    private long size;
    private long charged;

    /** Whether there is room for so many more bytes; where not, it stays as it was. */
    synchronized boolean grow(long bytes) {
      long due = size + bytes <= SMALL ? 0 : size + bytes - charged;
      if (due > 0 && taken.addAndGet(due) > most) {
        taken.addAndGet(-due);
        return false;
      }
      size += bytes;
      charged += due;
      return true;
    }

    synchronized void giveBack() {
      taken.addAndGet(-charged);
      size = 0;
      charged = 0;
    }
  }

  /** What reading a body throws when there is no room for more of it. */
  static final class Spent extends RuntimeException {

    private static final long serialVersionUID = 1L;

    Spent() {
      super(null, null, false, false);
    }
  }
}
