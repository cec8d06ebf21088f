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
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Changes of names that are all made or all taken back. What a change displaces is kept at the top
 * of the workspace until the end. With an {@link UndoLog} they are taken back also when the service
 * crashes in the middle. Runs under the tree's lock.
 */
final class ChangeSet implements AutoCloseable {

  private interface Change {

    void undo();

    void settle();
  }

  private final WorkspaceRoot root;
  private final Directory top;
  private final Optional<UndoLog.Open> log;
  private final Deque<Change> changes = new ArrayDeque<>();
  private boolean settled;

  /** Changes that a crash may leave half made. */
  ChangeSet(WorkspaceRoot root) {
    this(root, Optional.empty());
  }

  ChangeSet(WorkspaceRoot root, UndoLog.Open log) {
    this(root, Optional.of(log));
  }

  private ChangeSet(WorkspaceRoot root, Optional<UndoLog.Open> log) {
    this.root = root;
    this.top = root.directory();
    this.log = log;
  }

  private void before(UndoLog.Entry entry) {
    log.ifPresent(open -> open.before(entry));
  }

  /** Puts a file, by its name at the top of the workspace, in the place of a path. */
  void put(FileName file, WorkspacePath target, boolean isNew) {
    Directory to = parent(target);
    var put = new UndoLog.Put(file, target.names(), top.stat(file).inode());
    before(put);
    if (isNew || !isExchanged(top, file, to, target.name())) {
      if (!isNew) {
        displace(to, target.names(), false);
        before(put);
      }
      putNew(top, file, to, target.name());
    }
  }

  /** As above, between directories that stay open. What was replaced ends in the file's place. */
  void put(Directory from, FileName file, Directory to, FileName name, boolean isNew) {
    if (isNew || !isExchanged(from, file, to, name)) {
      if (!isNew) {
        displace(to, name, TemporaryFile.newName(), false);
      }
      putNew(from, file, to, name);
    }
  }

  private void putNew(Directory from, FileName file, Directory to, FileName name) {
    TemporaryFile.renameNew(from, file, to, name);
    note(() -> to.rename(name, from, file), () -> {});
  }

  /** False on a file system that cannot exchange; there the name is missing for a moment. */
  private boolean isExchanged(Directory from, FileName file, Directory to, FileName name) {
    try {
      from.exchange(file, to, name);
    } catch (LinuxException e) {
      if (!e.is(Errno.EINVAL)) {
        throw e;
      }
      return false;
    }
    note(() -> from.exchange(file, to, name), () -> from.unlink(file));
    return true;
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
    before(new UndoLog.Move(source.names(), target.names(), from.stat(source.name()).inode()));
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
    FileName kept = displace(from, path.names(), directory);
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

  private FileName displace(Directory from, List<FileName> path, boolean directory) {
    FileName kept = TemporaryFile.newName();
    before(new UndoLog.Keep(path, kept));
    displace(from, path.getLast(), kept, directory);
    return kept;
  }

  private void displace(Directory from, FileName name, FileName kept, boolean directory) {
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
  }

  private Directory parent(WorkspacePath path) {
    return parent(path.parent(), path.sent());
  }

  private Directory parent(List<FileName> names, SentPath sent) {
    if (log.isPresent()) {
      IntStream.rangeClosed(1, names.size())
          .mapToObj(length -> names.subList(0, length))
          .filter(this::isMissing)
          .forEach(missing -> before(new UndoLog.MakeDirectory(missing)));
    }
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

  private boolean isMissing(List<FileName> names) {
    try {
      top.stat(names);
      return false;
    } catch (LinuxException e) {
      return e.is(Errno.ENOENT);
    }
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

  /** All of it stays, whatever happens now. */
  void commit() {
    log.ifPresent(UndoLog.Open::end);
    settled = true;
  }

  /** Removes what was displaced. */
  void settle() {
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
