package io.envapi.linux;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** A queue with one reader, a platform thread; {@link #put} never wakes any other thread. */
final class Handoff<T> {

  private final ConcurrentLinkedQueue<T> items = new ConcurrentLinkedQueue<>();
  private volatile @Nullable Thread reader;

  void put(T item) {
    items.add(item);
    LockSupport.unpark(reader);
  }

  T take() {
    reader = Thread.currentThread();
    while (true) {
      T item = items.poll();
      if (item != null) {
        return item;
      }
      LockSupport.park(this);
    }
  }
}
