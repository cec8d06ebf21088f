package io.envapi.files;

import io.envapi.failure.Failure;
import io.envapi.linux.Directory;
import io.envapi.linux.Errno;
import io.envapi.linux.FileKind;
import io.envapi.linux.FileStat;
import io.envapi.linux.LinuxException;
import java.util.List;
import java.util.Optional;

/** The changes that make, move or remove names. Runs under the tree's lock. */
final class FileMoves {

  private final WorkspaceRoot root;
  private final DiskMeter meter;

  FileMoves(WorkspaceRoot root, DiskMeter meter) {
    this.root = root;
    this.meter = meter;
  }

  FileAnswer makeDirectory(FileOperation.MakeDirectory operation) {
    WorkspacePath path = root.path(operation.path(), "body", "path");
    Optional<FileStat> old = root.find(path);
    if (old.isPresent() && old.get().kind() != FileKind.DIRECTORY) {
      throw Refusal.conflict("the path exists and is no directory");
    }
    if (old.isEmpty()) {
      try (ParentDirectory made = ParentDirectory.open(root, path.names(), path.sent())) {
        made.keep();
      }
    }
    return new FileAnswer.Made(path.shown());
  }

  FileAnswer move(FileOperation.MoveFile operation, FileLimits limits) {
    WorkspacePath source = root.path(operation.source(), "body", "source");
    WorkspacePath target = root.path(operation.destination(), "body", "destination");
    FileAnswer.Mutated moved = checkMove(operation, source, target, limits);
    rename(source, target);
    return moved;
  }

  /** What moving comes to; changes nothing. */
  FileAnswer.Mutated checkMove(
      FileOperation.MoveFile operation,
      WorkspacePath source,
      WorkspacePath target,
      FileLimits limits) {
    ContentScan.Scanned moved;
    try (WorkspaceRoot.Opened opened = root.open(source, operation.ifMatch())) {
      long size = opened.stat().size();
      if (size > limits.maxWriteBytes()) {
        throw new Refusal(new Failure.TooLarge(size));
      }
      moved = ContentScan.scan(opened.file());
    }
    operation.ifMatch().check(Optional.of(moved.etag()));
    if (root.find(target).isPresent()) {
      throw Refusal.conflict("the destination exists");
    }
    return new FileAnswer.Mutated(
        target.shown(), moved.size(), moved.etag(), "", List.of(), List.of());
  }

  private void rename(WorkspacePath source, WorkspacePath target) {
    try (Directory from = root.directory().openDirectory(source.parent());
        ParentDirectory to = ParentDirectory.open(root, target.parent(), target.sent())) {
      TemporaryFile.renameNew(from, source.name(), to.directory(), target.name());
      to.directory().sync();
      from.sync();
      to.keep();
    } catch (LinuxException e) {
      throw e.is(Errno.EEXIST)
          ? Refusal.conflict("the destination exists")
          : Refusal.of(e, source.sent());
    }
  }

  FileAnswer delete(FileOperation.DeleteFile operation) {
    WorkspacePath path = root.path(operation.path(), "query", "path");
    if (path.isRoot()) {
      throw Refusal.invalid("the workspace itself cannot be deleted", "query", "path");
    }
    FileStat stat = found(path, operation.ifMatch());
    try (Directory parent = root.directory().openDirectory(path.parent())) {
      if (stat.kind() == FileKind.DIRECTORY) {
        removeDirectory(parent, path, operation);
      } else {
        checkTag(path, operation.ifMatch());
        parent.unlink(path.name());
        meter.add(-DiskMeter.freedBy(stat));
      }
      parent.sync();
    } catch (LinuxException e) {
      throw Refusal.of(e, path.sent());
    }
    return new FileAnswer.Deleted(path.shown());
  }

  /** What deleting would remove; changes nothing. */
  FileStat checkDelete(FileOperation.DeleteFile operation, WorkspacePath path) {
    FileStat stat = found(path, operation.ifMatch());
    if (stat.kind() != FileKind.DIRECTORY) {
      checkTag(path, operation.ifMatch());
    } else if (operation.ifMatch().given()) {
      throw Refusal.invalid("If-Match cannot guard a directory", "header", "If-Match");
    }
    return stat;
  }

  private FileStat found(WorkspacePath path, IfMatch ifMatch) {
    try {
      return root.require(path);
    } catch (Refusal e) {
      if (e.failure() instanceof Failure.NotFound) {
        ifMatch.check(Optional.empty());
      }
      throw e;
    }
  }

  private void checkTag(WorkspacePath path, IfMatch ifMatch) {
    if (ifMatch.given() && !ifMatch.any()) {
      try (WorkspaceRoot.Opened opened = root.open(path)) {
        ContentTag.check(ifMatch, opened);
      }
    }
  }

  private void removeDirectory(
      Directory parent, WorkspacePath path, FileOperation.DeleteFile operation) {
    if (operation.ifMatch().given()) {
      throw Refusal.invalid("If-Match cannot guard a directory", "header", "If-Match");
    }
    if (operation.recursive()) {
      meter.forget();
      if (!TreeRemoval.remove(parent, path.name())) {
        throw Refusal.conflict("processes keep changing the directory");
      }
      return;
    }
    try {
      parent.removeDirectory(path.name());
    } catch (LinuxException e) {
      if (!e.is(Errno.ENOTEMPTY) && !e.is(Errno.EEXIST)) {
        throw e;
      }
      throw Refusal.invalid("the directory is not empty", "query", "path");
    }
  }
}
