package io.envapi.audit;

import io.envapi.id.AccountId;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * How many bytes each account may still add to the lines of all: so many at once, and as many again
 * in the course of a day. For one thread.
 */
final class Allowances {

  private static final long DAY_NANOS = TimeUnit.DAYS.toNanos(1);
  private static final int REMEMBERED = 10_000;

  private static final class Held {
    private double left;
    private long at;
  }

  private final double whole;
  private final LongSupplier nanos;
  private final Map<AccountId, Held> all = new HashMap<>();
  private int enough = REMEMBERED;

  /**
   * @param whole bytes
   */
  Allowances(long whole, LongSupplier nanos) {
    this.whole = whole;
    this.nanos = nanos;
  }

  /** Whether there was so much left, which is then taken. */
  boolean take(AccountId account, int bytes) {
    if (all.size() >= enough) {
      all.values().removeIf(held -> refilled(held) == whole);
      enough = Math.max(REMEMBERED, 2 * all.size());
    }
    Held held = all.computeIfAbsent(account, _ -> fresh());
    held.left = refilled(held);
    held.at = nanos.getAsLong();
    if (held.left < bytes) {
      return false;
    }
    held.left -= bytes;
    return true;
  }

  private Held fresh() {
    var held = new Held();
    held.left = whole;
    held.at = nanos.getAsLong();
    return held;
  }

  private double refilled(Held held) {
    return Math.min(whole, held.left + whole * (nanos.getAsLong() - held.at) / DAY_NANOS);
  }
}
