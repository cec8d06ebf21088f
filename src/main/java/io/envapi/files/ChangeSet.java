package io.envapi.files;

import io.envapi.linux.Directory;
import io.envapi.linux.DirectoryReader;
import io.envapi.linux.Errno;
import io.envapi.linux.FileKind;
import io.envapi.linux.FileName;
import io.envapi.linux.LinuxException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/**
 * Changes of names that are all made or all taken back. What a change displaces is kept at the top
 * of the workspace until the end. A crash of the service in the middle leaves what was renamed so
 * far. Runs under the tree's lock.
 */
final class ChangeSet implements AutoCloseable {

  private interface Change {

    void undo();

    void settle();
  }

  private final WorkspaceRoot root;
  private final Directory top;
  private final Deque<Change> changes = new ArrayDeque<>();
  private boolean settled;

  ChangeSet(WorkspaceRoot root) {
    this.root = root;
    this.top = root.directory();
  }

  /** Puts a file, by its name at the top of the workspace, in the place of a path. */
  void put(FileName file, WorkspacePath target, boolean isNew) {
    put(top, file, parent(target), target.name(), isNew);
  }

  /** As above, between directories that stay open. What was replaced ends in the file's place. */
  void put(Directory from, FileName file, Directory to, FileName name, boolean isNew) {
    if (isNew) {
      TemporaryFile.renameNew(from, file, to, name);
      note(() -> to.rename(name, from, file), () -> {});
      return;
    }
    try {
      from.exchange(file, to, name);
      note(() -> from.exchange(file, to, name), () -> from.unlink(file));
    } catch (LinuxException e) {
      if (!e.is(Errno.EINVAL)) {
        throw e;
      }
      // A file system that cannot exchange: the name is missing for a moment.
      displace(to, name, false);
      TemporaryFile.renameNew(from, file, to, name);
      note(() -> to.rename(name, from, file), () -> {});
    }
  }

  /** Keeps a directory open until the end. */
  Directory hold(Directory directory) {
    note(directory::close, directory::close);
    return directory;
  }

  /** Moves a file to a place that must be free. */
  void move(WorkspacePath source, WorkspacePath target) {
    Directory to = parent(target);
    Directory from = open(source.parent());
    TemporaryFile.renameNew(from, source.name(), to, target.name());
    note(() -> to.renameNew(target.name(), from, source.name()), from::sync);
  }

  void makeDirectory(WorkspacePath path) {
    parent(path.names(), path.sent());
  }

  /** Removes a file, or a directory with or without what is in it. */
  void remove(WorkspacePath path, boolean recursive) {
    Directory from = open(path.parent());
    boolean directory = from.stat(path.name()).kind() == FileKind.DIRECTORY;
    FileName kept = displace(from, path.name(), directory);
    if (directory && !recursive && !isEmpty(kept)) {
      throw Refusal.invalid("the directory is not empty", "query", "path");
    }
  }

  private boolean isEmpty(FileName name) {
    try (Directory directory = top.openDirectory(name);
        DirectoryReader entries = directory.entries()) {
      return entries.next().isEmpty();
    }
  }

  private FileName displace(Directory from, FileName name, boolean directory) {
    FileName kept = TemporaryFile.newName();
    TemporaryFile.renameNew(from, name, top, kept);
    note(
        () -> top.renameNew(kept, from, name),
        () -> {
          from.sync();
          if (directory) {
            TreeRemoval.remove(top, kept);
          } else {
            top.unlink(kept);
          }
        });
    return kept;
  }

  private Directory parent(WorkspacePath path) {
    return parent(path.parent(), path.sent());
  }

  private Directory parent(List<FileName> names, SentPath sent) {
    ParentDirectory parent = ParentDirectory.open(root, names, sent);
    note(
        parent::close,
        () -> {
          parent.directory().sync();
          parent.keep();
          parent.close();
        });
    return parent.directory();
  }

  private Directory open(List<FileName> names) {
    return hold(top.openDirectory(names));
  }

  private void note(Runnable undo, Runnable settle) {
    changes.push(
        new Change() {
          @Override
          public void undo() {
            undo.run();
          }

          @Override
          public void settle() {
            settle.run();
          }
        });
  }

  /** All of it stays. */
  void settle() {
    settled = true;
    changes.forEach(change -> quietly(change::settle));
    top.sync();
  }

  @Override
  public void close() {
    if (!settled) {
      // Latest first.
      changes.forEach(change -> quietly(change::undo));
    }
    changes.clear();
  }

  private static void quietly(Runnable step) {
    try {
      step.run();
    } catch (LinuxException e) {
      // A process of the workspace came between; the other steps are done all the same.
      return;
    }
  }
}
