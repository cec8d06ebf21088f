package io.envapi.files;

import io.envapi.failure.Failure;
import io.envapi.failure.Result;
import io.envapi.linux.Directory;
import io.envapi.linux.LinuxException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Supplier;

/**
 * The files of one workspace, reached through a descriptor that is held for as long as this is
 * open: whatever processes in the workspace do to names meanwhile, nothing outside is read or
 * changed. Reads run side by side; changes one after another, so that a precondition holds until
 * the change is made. Only processes can come between.
 *
 * <p>Blocks on the disk: to be called on threads that may.
 */
public final class FileTree implements AutoCloseable {

  /** How long a transfer waits for its next step. */
  public static final Duration TRANSFER_IDLE = Duration.ofSeconds(60);

  private final WorkspaceRoot root;
  private final DiskMeter meter;
  private final UndoLog undo;
  private final FileReads reads;
  private final FileWrites writes;
  private final FileMoves moves;
  private final FileTransfers transfers;

  private final ReentrantLock changing = new ReentrantLock(true);

  /** Held for reading by every call, so that no descriptor is closed under one. */
  private final ReentrantReadWriteLock life = new ReentrantReadWriteLock();

  private volatile boolean closed;

  private FileTree(WorkspaceRoot root, DiskMeter meter, UndoLog undo) {
    this.root = root;
    this.meter = meter;
    this.undo = undo;
    this.reads = new FileReads(root);
    this.writes = new FileWrites(root, meter);
    this.moves = new FileMoves(root, meter);
    this.transfers = new FileTransfers(root, meter, changing);
  }

  /**
   * Opens a workspace, takes back a transaction that a crash cut off, and removes what a crash in
   * the middle of a write left.
   *
   * @param files the workspace on this host
   * @param logs what counts against the disk quota beside it; may be missing, but not the directory
   *     it is in
   * @param uid who owns the workspace and what is made in it; the group is the workspace's own
   * @param inside absolute paths by which callers may name the workspace's root
   * @throws LinuxException when there is no such directory
   */
  public static FileTree open(Path files, Path logs, int uid, List<String> inside) {
    Directory directory = Directory.open(files);
    try {
      WorkspaceRoot root =
          new WorkspaceRoot(directory, uid, directory.stat().gid(), List.copyOf(inside));
      FileTree tree = new FileTree(root, new DiskMeter(directory, logs), undoLog(logs));
      tree.undo.recover(directory);
      tree.removeDebris();
      return tree;
    } catch (LinuxException e) {
      directory.close();
      throw e;
    }
  }

  /**
   * Whether a transaction was cut off by a crash, so that the workspace has to be opened before
   * anybody sees it.
   *
   * @param logs as for {@link #open}
   */
  public static boolean isCutOff(Path logs) {
    return undoLog(logs).isLeft();
  }

  private static UndoLog undoLog(Path logs) {
    return new UndoLog(logs.resolveSibling(""));
  }

  /** Does what {@code operation} says, or nothing at all and says why. */
  public Result<FileAnswer> run(FileOperation operation, FileLimits limits) {
    return answered(subject(operation), () -> dispatch(operation, limits));
  }

  /** Goes on with a transfer, or refuses and says why; what was refused has ended. */
  public Result<TransferAnswer> transfer(TransferStep step, FileLimits limits) {
    return answered(transfers.subject(step), () -> transfers.run(step, limits));
  }

  /** Closes transfers that nobody went on with for {@code idle}; whether any are left open. */
  public boolean closeIdleTransfers(Duration idle) {
    life.readLock().lock();
    try {
      return !closed && transfers.closeIdle(idle);
    } finally {
      life.readLock().unlock();
    }
  }

  private <T> Result<T> answered(SentPath subject, Supplier<T> action) {
    life.readLock().lock();
    try {
      if (closed) {
        return Result.refused(new Failure.NotFound(Failure.Kind.FILE, subject.text()));
      }
      return Result.ok(action.get());
    } catch (Refusal e) {
      return Result.refused(e.failure());
    } catch (LinuxException e) {
      if (Refusal.of(e, subject) instanceof Refusal refusal) {
        return Result.refused(refusal.failure());
      }
      throw e;
    } finally {
      life.readLock().unlock();
    }
  }

  private FileAnswer dispatch(FileOperation operation, FileLimits limits) {
    return switch (operation) {
      case FileOperation.ListDirectory list -> FileListing.list(root, list);
      case FileOperation.ReadFile read -> reads.read(read, limits);
      case FileOperation.Search search -> FileSearch.search(root, search, () -> closed);
      case FileOperation.WriteFile write -> changing(() -> writes.write(write, limits));
      case FileOperation.EditFile edit -> changing(() -> writes.edit(edit, limits));
      case FileOperation.PatchFile patch -> changing(() -> writes.patch(patch, limits));
      case FileOperation.CopyFile copy -> changing(() -> writes.copy(copy, limits));
      case FileOperation.MoveFile move -> changing(() -> moves.move(move, limits));
      case FileOperation.MakeDirectory make -> changing(() -> moves.makeDirectory(make));
      case FileOperation.DeleteFile delete -> changing(() -> moves.delete(delete));
      case FileOperation.Transaction transaction ->
          changing(() -> FileTransaction.run(root, meter, undo, transaction, limits));
    };
  }

  private FileAnswer changing(Supplier<FileAnswer> change) {
    meter.refresh();
    changing.lock();
    try {
      return change.get();
    } finally {
      changing.unlock();
    }
  }

  private static SentPath subject(FileOperation operation) {
    return switch (operation) {
      case FileOperation.ListDirectory list -> list.path();
      case FileOperation.ReadFile read -> read.path();
      case FileOperation.Search search -> search.path();
      case FileOperation.WriteFile write -> write.path();
      case FileOperation.EditFile edit -> edit.path();
      case FileOperation.PatchFile patch -> patch.path();
      case FileOperation.CopyFile copy -> copy.source();
      case FileOperation.MoveFile move -> move.source();
      case FileOperation.MakeDirectory make -> make.path();
      case FileOperation.DeleteFile delete -> delete.path();
      case FileOperation.Transaction _ -> SentPath.of(".");
    };
  }

  /** Measures what is on the disk now. */
  public DiskUsage measure() {
    return whileOpen(
        () -> {
          if (!meter.isShort()) {
            return meter.measure();
          }
          changing.lock();
          try {
            return meter.measure();
          } finally {
            changing.unlock();
          }
        });
  }

  /**
   * Bytes on the disk by what was measured last and what was changed here since; empty where that
   * is not known.
   */
  public Optional<Long> known() {
    return meter.known();
  }

  /**
   * Empties the workspace. Its processes should be gone.
   *
   * @throws LinuxException when something could not be removed
   */
  public void clear() {
    whileOpen(
        () -> {
          changing.lock();
          try {
            meter.forget();
            if (!TreeRemoval.empty(root.directory())) {
              throw new IllegalStateException("processes keep changing the workspace");
            }
            return true;
          } finally {
            changing.unlock();
          }
        });
  }

  /** Removes temporary files of writes that never ended. Not while writes are under way. */
  private void removeDebris() {
    new TreeWalk(root.directory(), new Debris()).run();
  }

  private <T> T whileOpen(Supplier<T> action) {
    life.readLock().lock();
    try {
      if (closed) {
        throw new IllegalStateException("the workspace is closed");
      }
      return action.get();
    } finally {
      life.readLock().unlock();
    }
  }

  @Override
  public void close() {
    // Before the lock: a search that is under way holds it until it sees this.
    closed = true;
    transfers.abandonAll();
    life.writeLock().lock();
    try {
      transfers.closeAll();
      root.directory().close();
    } finally {
      life.writeLock().unlock();
    }
  }
}
