package io.envapi.files;

import io.envapi.failure.Failure;
import io.envapi.linux.LinuxException;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;

/** The transfers that are open on one workspace. */
final class FileTransfers {

  /** Each holds a descriptor, and an upload what it stored so far. */
  private static final int MOST_OPEN = 64;

  /** The kernel has few instances of inotify for one user, 128 by default. */
  private static final int MOST_WATCHES = 8;

  /** A watch is asked several times a second while there is somebody to tell. */
  private static final Duration WATCH_ABANDONED = Duration.ofSeconds(3);

  private static final SecureRandom RANDOM = new SecureRandom();
  private static final int ID_BYTES = 12;

  private static final class Entry {
    private final OpenTransfer transfer;
    private volatile long usedAt = System.nanoTime();

    Entry(OpenTransfer transfer) {
      this.transfer = transfer;
    }
  }

  private final WorkspaceRoot root;
  private final DiskMeter meter;
  private final ReentrantLock changing;
  private final Clock clock = Clock.systemUTC();
  private final Map<String, Entry> open = new ConcurrentHashMap<>();

  FileTransfers(WorkspaceRoot root, DiskMeter meter, ReentrantLock changing) {
    this.root = root;
    this.meter = meter;
    this.changing = changing;
  }

  TransferAnswer run(TransferStep step, FileLimits limits) {
    return switch (step) {
      case TransferStep.OpenRead read -> openRead(read);
      case TransferStep.OpenWrite write -> {
        meter.refresh();
        refuseMore();
        yield new TransferAnswer.Writable(add(Upload.open(root, meter, write, limits)));
      }
      case TransferStep.Read read -> find(read.transfer()).read(read);
      case TransferStep.Append append -> {
        Upload upload = upload(append.transfer());
        try {
          yield upload.append(append);
        } catch (Refusal | LinuxException e) {
          close(append.transfer());
          throw e;
        }
      }
      case TransferStep.Commit commit -> commit(commit.transfer());
      case TransferStep.OpenArchive archive -> {
        refuseMore();
        WorkspacePath path = root.path(archive.path(), "query", "path");
        String id = add(ArchivePacking.open(root, path, archive.format()));
        yield new TransferAnswer.Archive(id, path.shown());
      }
      case TransferStep.OpenUnpack unpack -> {
        meter.refresh();
        refuseMore();
        yield new TransferAnswer.Writable(add(Upload.spool(root, meter, unpack, limits)));
      }
      case TransferStep.Unpack unpack -> unpack(unpack.transfer(), limits);
      case TransferStep.OpenWatch watch -> openWatch(watch);
      case TransferStep.Watch watch -> watch(watch);
      case TransferStep.Close close -> {
        close(close.transfer());
        yield new TransferAnswer.Closed();
      }
    };
  }

  /** What an error in a step is about. */
  SentPath subject(TransferStep step) {
    return switch (step) {
      case TransferStep.OpenRead read -> read.path();
      case TransferStep.OpenWrite write -> write.path();
      case TransferStep.Read read -> subject(read.transfer());
      case TransferStep.Append append -> subject(append.transfer());
      case TransferStep.Commit commit -> subject(commit.transfer());
      case TransferStep.OpenArchive archive -> archive.path();
      case TransferStep.OpenUnpack unpack -> unpack.path();
      case TransferStep.OpenWatch watch -> watch.path();
      case TransferStep.Watch watch -> subject(watch.transfer());
      case TransferStep.Unpack unpack -> subject(unpack.transfer());
      case TransferStep.Close close -> subject(close.transfer());
    };
  }

  private SentPath subject(String id) {
    return Optional.ofNullable(open.get(id)).map(e -> e.transfer.path()).orElse(SentPath.of("."));
  }

  private TransferAnswer openRead(TransferStep.OpenRead read) {
    WorkspacePath path = root.path(read.path(), "query", "path");
    refuseMore();
    WorkspaceRoot.Opened opened = root.open(path, read.ifMatch());
    boolean kept = false;
    try {
      ContentTag.check(read.ifMatch(), opened);
      String etag = ContentTag.shown(opened, clock);
      if (read.ifNoneMatch().given() && ContentTag.isNamed(read.ifNoneMatch(), opened)) {
        return new TransferAnswer.Unchanged(etag);
      }
      String id = read.keep() ? add(new Download(read.path(), opened)) : "";
      kept = read.keep();
      return new TransferAnswer.Opened(
          id, path.shown(), opened.stat().size(), etag, opened.stat().modifiedSeconds());
    } finally {
      if (!kept) {
        opened.close();
      }
    }
  }

  private TransferAnswer openWatch(TransferStep.OpenWatch watch) {
    WorkspacePath path = root.path(watch.path(), "query", "path");
    if (count(FileWatch.class) >= MOST_WATCHES) {
      abandonedWatch().ifPresent(this::close);
    }
    refuseMore();
    if (count(FileWatch.class) >= MOST_WATCHES) {
      throw new Refusal(
          new Failure.QuotaExceeded("max_watches", count(FileWatch.class), MOST_WATCHES));
    }
    return new TransferAnswer.Watching(add(FileWatch.open(root, path, watch.depth())));
  }

  /** The watch that nobody asked for the longest. */
  private Optional<String> abandonedWatch() {
    long now = System.nanoTime();
    return open.entrySet().stream()
        .filter(each -> each.getValue().transfer instanceof FileWatch)
        .filter(each -> now - each.getValue().usedAt >= WATCH_ABANDONED.toNanos())
        .max(Comparator.comparing(each -> now - each.getValue().usedAt))
        .map(Map.Entry::getKey);
  }

  private TransferAnswer watch(TransferStep.Watch watch) {
    if (!(find(watch.transfer()) instanceof FileWatch watching)) {
      throw Refusal.conflict("the transfer is no watch");
    }
    try {
      return watching.after(watch.after());
    } catch (Refusal e) {
      close(watch.transfer());
      throw e;
    }
  }

  private TransferAnswer commit(String id) {
    Upload upload = upload(id);
    changing.lock();
    try {
      return upload.commit();
    } finally {
      changing.unlock();
      close(id);
    }
  }

  private TransferAnswer unpack(String id, FileLimits limits) {
    Upload upload = upload(id);
    changing.lock();
    try {
      return upload.unpack(limits);
    } finally {
      changing.unlock();
      close(id);
    }
  }

  private void refuseMore() {
    if (open.size() >= MOST_OPEN) {
      throw new Refusal(new Failure.QuotaExceeded("max_open_transfers", open.size(), MOST_OPEN));
    }
  }

  private long count(Class<?> type) {
    return open.values().stream().filter(e -> type.isInstance(e.transfer)).count();
  }

  private String add(OpenTransfer transfer) {
    byte[] random = new byte[ID_BYTES];
    RANDOM.nextBytes(random);
    String id = HexFormat.of().formatHex(random);
    open.put(id, new Entry(transfer));
    return id;
  }

  private OpenTransfer find(String id) {
    Entry entry = open.get(id);
    if (entry == null) {
      throw Refusal.conflict("the transfer has ended");
    }
    entry.usedAt = System.nanoTime();
    return entry.transfer;
  }

  private Upload upload(String id) {
    if (find(id) instanceof Upload upload) {
      return upload;
    }
    throw Refusal.conflict("the transfer goes the other way");
  }

  private void close(String id) {
    Entry entry = open.remove(id);
    if (entry != null) {
      entry.transfer.abandon();
      entry.transfer.close();
    }
  }

  /** Lets steps that are under way end soon. */
  void abandonAll() {
    open.values().forEach(entry -> entry.transfer.abandon());
  }

  /** Closes those that nobody went on with for {@code idle}; whether any is left. */
  boolean closeIdle(Duration idle) {
    long now = System.nanoTime();
    open.forEach(
        (id, entry) -> {
          if (now - entry.usedAt >= idle.toNanos()) {
            close(id);
          }
        });
    return !open.isEmpty();
  }

  void closeAll() {
    open.keySet().forEach(this::close);
  }
}
