package io.envapi.files;

import io.envapi.failure.Failure;
import io.envapi.linux.Directory;
import io.envapi.linux.DirectoryEntry;
import io.envapi.linux.Errno;
import io.envapi.linux.FileKind;
import io.envapi.linux.FileStat;
import io.envapi.linux.LinuxException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Keeps account of what is on the disk: measured by walking, corrected by the changes made here,
 * measured again when the walk would cost less than a twentieth of the time since the last, because
 * processes write too.
 */
final class DiskMeter {

  private static final int UNIT = 512;

  /** Below this a file counts by its size: some file systems allocate late, or not at all. */
  private static final long SPARSE_FROM = 64 * 1024;

  /** A walk up to this long may be repeated while others wait. */
  private static final long SHORT_NANOS = 5_000_000;

  private static final int SHARE = 20;

  private final Directory workspace;
  private final Path logs;
  private final ReentrantLock walking = new ReentrantLock();

  /** Guards what follows. */
  private final Object state = new Object();

  private DiskUsage measured = new DiskUsage(0, 0);
  private long changes;
  private long walkedAt;
  private long cost;
  private boolean known;

  DiskMeter(Directory workspace, Path logs) {
    this.workspace = workspace;
    this.logs = logs;
  }

  /** What removing the file, or replacing its content, gives back. */
  static long freedBy(FileStat stat) {
    return stat.links() > 1 ? 0 : charge(stat);
  }

  private static long charge(FileStat stat) {
    return stat.size() < SPARSE_FROM ? stat.size() : Math.min(stat.size(), stat.blocks() * UNIT);
  }

  /** Walks now. Changes made meanwhile may count twice until the next walk. */
  DiskUsage measure() {
    walking.lock();
    try {
      long before;
      synchronized (state) {
        before = changes;
      }
      long start = System.nanoTime();
      DiskUsage usage = new DiskUsage(walk(workspace), walkLogs());
      long end = System.nanoTime();
      synchronized (state) {
        measured = usage;
        changes -= before;
        walkedAt = end;
        cost = end - start;
        known = true;
      }
      return usage;
    } finally {
      walking.unlock();
    }
  }

  /** Brings a costly account up to date; to be called before a change takes its lock. */
  void refresh() {
    if (isStale() && !isShort() && walking.tryLock()) {
      try {
        measure();
      } finally {
        walking.unlock();
      }
    }
  }

  /** Refuses what would grow over {@code most} bytes; growth of nothing is always admitted. */
  void reserve(long growth, long most) {
    if (growth <= 0) {
      return;
    }
    if (isStale() && isShort()) {
      measure();
    }
    long used = used();
    if (used + growth > most) {
      throw new Refusal(new Failure.QuotaExceeded("max_disk_bytes", used, most));
    }
  }

  void add(long growth) {
    synchronized (state) {
      changes += growth;
    }
  }

  /** The next question is answered by walking. */
  void forget() {
    synchronized (state) {
      known = false;
    }
  }

  /** Empty where only a walk would tell. */
  Optional<Long> known() {
    synchronized (state) {
      return known ? Optional.of(used()) : Optional.empty();
    }
  }

  private long used() {
    synchronized (state) {
      return Math.max(0, measured.totalBytes() + changes);
    }
  }

  boolean isShort() {
    synchronized (state) {
      return cost < SHORT_NANOS;
    }
  }

  private boolean isStale() {
    synchronized (state) {
      return !known || System.nanoTime() - walkedAt > SHARE * cost;
    }
  }

  private long walkLogs() {
    try (Directory directory = Directory.open(logs)) {
      return walk(directory);
    } catch (LinuxException e) {
      if (e.is(Errno.ENOENT)) {
        return 0;
      }
      throw e;
    }
  }

  private static long walk(Directory root) {
    Count count = new Count();
    new TreeWalk(root, count).run();
    return count.bytes;
  }

  private static final class Count implements TreeWalk.Visitor {
    private final Set<Long> counted = new HashSet<>();
    private long bytes;

    @Override
    public void file(Directory in, DirectoryEntry entry) {
      FileStat stat;
      try {
        stat = in.stat(entry.name());
      } catch (LinuxException e) {
        // Gone meanwhile, or in a directory that does not let its names be looked at.
        return;
      }
      if (stat.kind() == FileKind.REGULAR && (stat.links() == 1 || counted.add(stat.inode()))) {
        bytes += charge(stat);
      }
    }
  }
}
