package io.envapi.files;

import io.envapi.linux.FileStat;
import java.time.Clock;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * What scans found, so that reading a large file window by window scans it once. Only for reads: a
 * precondition is always checked against the file itself, since a process that has it mapped can
 * change it without the kernel noting a new time.
 */
final class ScanCache {

  /** The kernel's file times are coarse; a change this soon after another may show no new one. */
  private static final long SETTLED_NANOS = TimeUnit.SECONDS.toNanos(2);

  private static final int MOST = 64;

  record Known(FileStat stat, String etag, boolean text) {}

  private final Clock clock;
  private final Map<Long, Known> byInode =
      new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Known> eldest) {
          return size() > MOST;
        }
      };

  ScanCache(Clock clock) {
    this.clock = clock;
  }

  synchronized Optional<Known> find(FileStat stat) {
    return Optional.ofNullable(byInode.get(stat.inode())).filter(k -> k.stat().equals(stat));
  }

  /**
   * Keeps a finding, unless the file changed meanwhile or too recently.
   *
   * @param before the file when the scan began
   */
  synchronized void put(FileStat before, FileStat after, ContentScan.Scanned scanned) {
    long now = TimeUnit.MILLISECONDS.toNanos(clock.millis());
    boolean settled = now - before.changedNanos() > SETTLED_NANOS;
    if (settled && before.equals(after)) {
      byInode.put(before.inode(), new Known(before, scanned.etag(), scanned.text()));
    }
  }
}
