package io.envapi.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Tells when descriptors are ready, for any number of them on one thread.
 *
 * <p>Callbacks run on that thread: they must be short, never block, and take no lock that is held
 * around {@link Registration#arm} or {@link Registration#cancel}.
 */
public final class Poller implements AutoCloseable {

  /** One question about one descriptor. Safe for concurrent use, from its callback too. */
  public interface Registration {

    /**
     * Asks for one callback when the descriptor is ready, has hung up or is in error; at once when
     * it is already. Does nothing once cancelled.
     */
    void arm();

    /**
     * Ends it. When this returns, no callback runs or will start (the one it is called from apart),
     * and the descriptor may be closed, which it may not be before.
     */
    void cancel();
  }

  /**
   * One epoll set for each question, since a set holds a descriptor once: the master of a terminal
   * is both read and written.
   */
  private final Interest readable = new Interest(Epoll.EPOLLIN);

  private final Interest writable = new Interest(Epoll.EPOLLOUT);
  private final Interest hangup = new Interest(0);
  private final Interest[] interests = {readable, writable, hangup};
  private final Epoll root = new Epoll();
  private final EventFd wakeUp = EventFd.open();
  private volatile boolean closed;

  private Poller() {
    for (int i = 0; i < interests.length; i++) {
      root.add(interests[i].epoll.descriptor(), Epoll.EPOLLIN, i);
    }
    root.add(wakeUp.descriptor(), Epoll.EPOLLIN, interests.length);
  }

  public static Poller start() {
    Poller poller = new Poller();
    Thread.ofPlatform().daemon().name("poller").start(poller::run);
    return poller;
  }

  /** Asks for data, an end or an error; not armed yet. */
  public Registration register(FileDescriptor fd, Runnable onReadable) {
    return readable.register(fd, onReadable);
  }

  /** Asks for room to write, or an error; not armed yet. */
  public Registration registerWritable(FileDescriptor fd, Runnable onWritable) {
    return writable.register(fd, onWritable);
  }

  /**
   * Asks for the other end being gone: of a pipe's write end, that no reader is left. Armed
   * already; tells once.
   */
  public Registration registerHangup(FileDescriptor fd, Runnable onHangup) {
    Registration registration = hangup.register(fd, onHangup);
    registration.arm();
    return registration;
  }

  /** Ends the thread; no callback starts after it noticed. */
  @Override
  public void close() {
    closed = true;
    wakeUp.signal();
  }

  private void run() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment room = arena.allocate(Epoll.BATCH * Epoll.EVENT_SIZE, 8);
      long[] sets = new long[Epoll.BATCH];
      long[] ready = new long[Epoll.BATCH];
      while (!closed) {
        int count = root.await(room, sets, true);
        for (int i = 0; i < count && !closed; i++) {
          if (sets[i] < interests.length) {
            interests[(int) sets[i]].tell(room, ready);
          }
        }
      }
    }
    wakeUp.descriptor().close();
    root.descriptor().close();
    for (Interest each : interests) {
      each.epoll.descriptor().close();
    }
  }

  private static final class Interest {

    private final int events;
    private final Epoll epoll = new Epoll();
    private final AtomicLong ids = new AtomicLong();
    private final Map<Long, Entry> entries = new ConcurrentHashMap<>();

    Interest(int events) {
      this.events = events | Epoll.EPOLLONESHOT;
    }

    Entry register(FileDescriptor fd, Runnable callback) {
      long id = ids.incrementAndGet();
      Entry entry = new Entry(this, id, fd, callback);
      entries.put(id, entry);
      try {
        // Even without events a hang-up is told, once: an entry that is not armed ignores it.
        epoll.add(fd, Epoll.EPOLLONESHOT, id);
      } catch (LinuxException e) {
        entries.remove(id);
        throw e;
      }
      return entry;
    }

    void tell(MemorySegment room, long[] ready) {
      int count = epoll.await(room, ready, false);
      for (int i = 0; i < count; i++) {
        Entry entry = entries.get(ready[i]);
        if (entry != null) {
          entry.tell();
        }
      }
    }
  }

  private static final class Entry implements Registration {

    private final Interest interest;
    private final long id;
    private final FileDescriptor fd;
    private final Runnable callback;
    private boolean armed;
    private boolean cancelled;

    Entry(Interest interest, long id, FileDescriptor fd, Runnable callback) {
      this.interest = interest;
      this.id = id;
      this.fd = fd;
      this.callback = callback;
    }

    @Override
    public synchronized void arm() {
      if (!cancelled) {
        armed = true;
        interest.epoll.modify(fd, interest.events, id);
      }
    }

    @Override
    public synchronized void cancel() {
      if (!cancelled) {
        cancelled = true;
        interest.entries.remove(id);
        interest.epoll.remove(fd);
      }
    }

    /** Holds the lock, so that {@link #cancel} waits for the callback. */
    synchronized void tell() {
      if (armed && !cancelled) {
        armed = false;
        try {
          callback.run();
        } catch (RuntimeException | Error e) {
          // One registration's bug must not end the service of all others.
          Thread thread = Thread.currentThread();
          thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
        }
      }
    }
  }
}
