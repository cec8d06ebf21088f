package io.envapi.files;

import io.envapi.linux.LinuxException;

/**
 * The changes that give a file new content. Each weighs what it adds first, writes beside the
 * target, and renames. Runs under the tree's lock.
 */
final class FileWrites {

  private final WorkspaceRoot root;
  private final DiskMeter meter;

  FileWrites(WorkspaceRoot root, DiskMeter meter) {
    this.root = root;
    this.meter = meter;
  }

  FileAnswer write(FileOperation.WriteFile operation, FileLimits limits) {
    return store(changes(limits).write(operation), limits);
  }

  FileAnswer edit(FileOperation.EditFile operation, FileLimits limits) {
    return store(changes(limits).edit(operation), limits);
  }

  FileAnswer patch(FileOperation.PatchFile operation, FileLimits limits) {
    return store(changes(limits).patch(operation), limits);
  }

  FileAnswer copy(FileOperation.CopyFile operation, FileLimits limits) {
    return store(changes(limits).copy(operation), limits);
  }

  private FileChanges changes(FileLimits limits) {
    return new FileChanges(root, limits, FileChanges.Pending.NONE);
  }

  private FileAnswer store(FileChange change, FileLimits limits) {
    if (!change.same()) {
      meter.reserve(change.growth(), limits.maxDiskBytes());
      publish(change);
      meter.add(change.growth());
    }
    return change.answer();
  }

  private void publish(FileChange change) {
    WorkspacePath path = change.path();
    try (ParentDirectory parent = ParentDirectory.open(root, path.parent(), path.sent());
        TemporaryFile temporary = TemporaryFile.create(parent.directory())) {
      temporary.fill(change.content(), change.uid(root), change.gid(root), change.mode());
      temporary.publish(path.name(), !change.isNew());
      parent.keep();
    } catch (LinuxException e) {
      throw Refusal.of(e, path.sent());
    }
  }
}
