package io.envapi.shell;

import org.apache.pekko.util.ByteString;

/**
 * The newest bytes of a shell's output, addressed by cursor: the number of bytes the shell printed
 * before. Grows with use up to its capacity, then forgets the oldest. Safe for concurrent use; one
 * thread appends.
 */
public final class OutputRing {

  private static final int FIRST_ALLOCATION = 4096;

  /**
   * A piece of output.
   *
   * @param cursor of the first byte; later than asked for when older bytes were dropped
   * @param data the bytes, not to be changed
   * @param dropped how many bytes between what was asked for and {@code cursor} are gone
   * @param end one past the newest byte
   */
  public record Slice(long cursor, ByteString data, long dropped, long end) {

    public long next() {
      return cursor + data.size();
    }

    /** This without what lies at {@code limit} and after it. */
    Slice upTo(long limit) {
      return next() <= limit
          ? this
          : new Slice(cursor, data.take((int) Math.max(0, limit - cursor)), dropped, end);
    }
  }

  private final int capacity;
  private byte[] buffer = new byte[0];
  private long start;
  private long end;

  /**
   * @param capacity bytes held at most
   * @param start the cursor of the first byte that will be appended
   */
  public OutputRing(int capacity, long start) {
    this.capacity = capacity;
    this.start = start;
    this.end = start;
  }

  public synchronized void append(ByteString bytes) {
    ByteString kept = bytes.size() > capacity ? bytes.takeRight(capacity) : bytes;
    if (kept.size() < bytes.size()) {
      end += bytes.size() - kept.size();
      start = end;
    }
    grow(kept.size());
    byte[] source = kept.toArrayUnsafe();
    int at = (int) (end % buffer.length);
    int first = Math.min(source.length, buffer.length - at);
    System.arraycopy(source, 0, buffer, at, first);
    System.arraycopy(source, first, buffer, 0, source.length - first);
    end += source.length;
    start = Math.max(start, end - buffer.length);
  }

  /** The bytes from {@code cursor} on, {@code max} at most. A cursor past the end is the end. */
  public synchronized Slice read(long cursor, int max) {
    long from = Math.min(Math.max(cursor, start), end);
    int size = (int) Math.min(max, end - from);
    byte[] target = new byte[size];
    if (size > 0) {
      int at = (int) (from % buffer.length);
      int first = Math.min(size, buffer.length - at);
      System.arraycopy(buffer, at, target, 0, first);
      System.arraycopy(buffer, 0, target, first, size - first);
    }
    return new Slice(from, ByteString.fromArrayUnsafe(target), Math.max(0, from - cursor), end);
  }

  /** The cursor of the oldest byte held. */
  public synchronized long start() {
    return start;
  }

  /** One past the newest byte. */
  public synchronized long end() {
    return end;
  }

  private void grow(int extra) {
    int held = (int) (end - start);
    int wanted = Math.min(capacity, held + extra);
    if (wanted <= buffer.length) {
      return;
    }
    int size = (int) Math.min(capacity, Math.max(FIRST_ALLOCATION, 2L * wanted));
    byte[] old = read(start, held).data().toArrayUnsafe();
    byte[] larger = new byte[size];
    int at = (int) (start % size);
    int first = Math.min(held, size - at);
    System.arraycopy(old, 0, larger, at, first);
    System.arraycopy(old, first, larger, 0, held - first);
    buffer = larger;
  }
}
