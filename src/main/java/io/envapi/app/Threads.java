package io.envapi.app;

import io.envapi.environment.FileThreads;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * The threads that may block, each kind apart: what fills one stops nothing else. Platform threads,
 * since most of it is calls into Linux, which would hold the carriers of virtual ones.
 *
 * @param blocking starts shells, looks at {@code /proc} and at the disk, reads logs
 * @param files reads, changes and searches files
 * @param rows deletes rows of the journal
 * @param beat says to the other hosts of the journal that this one is there
 */
record Threads(
    ExecutorService blocking, ExecutorService files, ExecutorService rows, ExecutorService beat) {

  private static final int BLOCKING = 32;
  private static final int ROWS = 2;

  static Threads start() {
    return new Threads(
        threads("blocking-", BLOCKING),
        threads("files-", FileThreads.ALL),
        threads("journal-rows-", ROWS),
        threads("journal-beat-", 1));
  }

  private static ExecutorService threads(String name, int most) {
    return Executors.newFixedThreadPool(most, Thread.ofPlatform().name(name, 1).daemon().factory());
  }
}
