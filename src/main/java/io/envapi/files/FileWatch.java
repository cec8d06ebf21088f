package io.envapi.files;

import io.envapi.linux.Inotify;
import io.envapi.linux.LinuxException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Watches a directory and some levels below it. The kernel collects what happens; it is looked at
 * when somebody asks, and the latest is kept for whoever lost the connection. A directory that is
 * new is watched from then on, and what is in it already counts as created. When its path no longer
 * leads to the directory, the watch tells that it is deleted, and has ended.
 */
final class FileWatch implements OpenTransfer {

  private static final int MOST_DEPTH = 10;

  /** Of up to some thousand events each; who writes all the time does not hold up the answer. */
  private static final int MOST_READS = 16;

  private static final int MOST_BATCHES = 4;

  private final WorkspacePath path;
  private final Inotify inotify;
  private final WatchedTree tree;
  private final ChangeLog log = new ChangeLog();

  /** Something was missed, so that the tree cannot be trusted. */
  private boolean missed;

  /** The tree did not fit the disk at the last look, but there were more events. */
  private boolean doubted;

  private boolean ended;
  private boolean closed;

  private FileWatch(WorkspacePath path, Inotify inotify, WatchedTree tree) {
    this.path = path;
    this.inotify = inotify;
    this.tree = tree;
  }

  static FileWatch open(WorkspaceRoot root, WorkspacePath path, int depth) {
    root.openDirectory(path).close();
    Inotify inotify;
    try {
      inotify = Inotify.open();
    } catch (LinuxException e) {
      throw none();
    }
    try {
      int levels = Math.clamp(depth, 0, MOST_DEPTH);
      return WatchedTree.open(root.directory(), path.names(), levels, inotify)
          .map(tree -> new FileWatch(path, inotify, tree))
          .orElseThrow(FileWatch::none);
    } catch (LinuxException | Refusal e) {
      inotify.close();
      throw e;
    }
  }

  private static Refusal none() {
    return Refusal.conflict("the host has no watches left for so many directories");
  }

  @Override
  public SentPath path() {
    return path.sent();
  }

  @Override
  public TransferAnswer read(TransferStep.Read read) {
    throw Refusal.conflict("the transfer is a watch");
  }

  /** What happened after the change of this number, 0 for the beginning. */
  synchronized TransferAnswer after(long number) {
    if (closed) {
      throw Refusal.conflict("the transfer has ended");
    }
    if (!ended) {
      look();
    }
    List<TransferAnswer.Change> changes = log.after(number);
    if (ended && changes.isEmpty()) {
      throw Refusal.missing(path.sent());
    }
    return new TransferAnswer.Changes(changes);
  }

  private void look() {
    boolean more = true;
    for (int batches = 0; more && !ended && batches < MOST_BATCHES; batches++) {
      var batch = new EventBatch(waiting());
      more = !batch.events().isEmpty();
      take(batch);
    }
    if (!ended) {
      settle(more);
    }
  }

  private void take(EventBatch batch) {
    boolean there = tree.isTopThere();
    Optional<EventBatch> before = batch.before(tree::isEnd);
    missed |= new WatchedEvents(tree, log, before.orElse(batch)).take();
    if (before.isPresent() || !there) {
      end();
    }
  }

  /** All that the kernel has collected, as long as that is not without end. */
  private List<Inotify.Event> waiting() {
    List<Inotify.Event> waiting = new ArrayList<>();
    List<Inotify.Event> some = inotify.read();
    for (int reads = 1; !some.isEmpty() && reads < MOST_READS; reads++) {
      waiting.addAll(some);
      some = inotify.read();
    }
    waiting.addAll(some);
    return waiting;
  }

  /** What does not fit the disk after all events, or for long, has no other explanation. */
  private void settle(boolean more) {
    boolean right = tree.isRight();
    if (!right && !missed && (doubted || !more)) {
      log.add(TransferAnswer.ChangeKind.OVERFLOW, List.of());
      missed = true;
    }
    doubted = !right;
    if (missed) {
      rebuild();
    }
  }

  private void rebuild() {
    try {
      if (!tree.rebuild()) {
        log.add(TransferAnswer.ChangeKind.OVERFLOW, path.names());
      }
      missed = false;
      doubted = false;
    } catch (LinuxException e) {
      // The next look tells whether it is gone, or tries again.
      missed = true;
    }
  }

  private void end() {
    log.add(TransferAnswer.ChangeKind.DELETED, path.names());
    ended = true;
    inotify.close();
  }

  @Override
  public synchronized void close() {
    if (!closed && !ended) {
      inotify.close();
    }
    closed = true;
  }
}
