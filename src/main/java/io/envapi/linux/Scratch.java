package io.envapi.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.ArrayBlockingQueue;

/**
 * Native memory for the time of one read or write. A few pieces are kept for the next, because the
 * C allocator and the zeroing by {@link Arena} cost more than a small read does.
 */
final class Scratch implements AutoCloseable {

  /** Reads and writes move at most this much; what a pipe has by default. */
  static final int SIZE = 64 * 1024;

  private static final int KEPT = 16;
  private static final ArrayBlockingQueue<MemorySegment> FREE = new ArrayBlockingQueue<>(KEPT);

  private final MemorySegment whole;
  private final int length;

  private Scratch(MemorySegment whole, int length) {
    this.whole = whole;
    this.length = length;
  }

  /** At most {@link #SIZE} bytes of anything. */
  static Scratch take(int wanted) {
    MemorySegment free = FREE.poll();
    return new Scratch(
        free == null ? Arena.ofAuto().allocate(SIZE, 16) : free, Math.min(wanted, SIZE));
  }

  /** The same memory for fewer bytes; not to be closed. */
  Scratch of(int wanted) {
    return new Scratch(whole, Math.min(wanted, length));
  }

  MemorySegment memory() {
    return whole.asSlice(0, length);
  }

  int length() {
    return length;
  }

  /** Kept, or left to the collector when enough is kept. */
  @Override
  public void close() {
    FREE.offer(whole);
  }
}
