package io.envapi.files;

import io.envapi.linux.Directory;
import io.envapi.linux.DirectoryEntry;
import io.envapi.linux.DirectoryReader;
import io.envapi.linux.Errno;
import io.envapi.linux.FileKind;
import io.envapi.linux.FileName;
import io.envapi.linux.LinuxException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Moves an unpacked tree to its place; into what is there, or to where nothing is. */
final class ArchiveMerge {

  /** Each holds two descriptors until the end. */
  private static final int MOST_MERGED = 500;

  private final WorkspaceRoot root;
  private int merged;

  ArchiveMerge(WorkspaceRoot root) {
    this.root = root;
  }

  /**
   * @param name the tree's own, at the top of the workspace
   */
  void run(Directory tree, FileName name, WorkspacePath target) {
    try (ChangeSet set = new ChangeSet(root)) {
      if (!target.isRoot() && root.find(target).isEmpty()) {
        set.put(name, target, true);
      } else {
        merge(set, tree, set.hold(root.openDirectory(target)));
      }
      set.commit();
      set.settle();
    }
  }

  private void merge(ChangeSet set, Directory from, Directory to) {
    if (++merged > MOST_MERGED) {
      throw ArchiveUnpacking.invalid(
          "the archive goes into more than %d directories that exist".formatted(MOST_MERGED));
    }
    for (DirectoryEntry entry : entries(from)) {
      FileName name = entry.name();
      Optional<FileKind> there = kind(to, name);
      if (there.isEmpty()) {
        set.put(from, name, to, name, true);
      } else if ((there.get() == FileKind.DIRECTORY) != (entry.kind() == FileKind.DIRECTORY)) {
        throw Refusal.conflict(
            "a file of the archive is a directory in the workspace, or inversely");
      } else if (entry.kind() == FileKind.DIRECTORY) {
        merge(set, set.hold(from.openDirectory(name)), set.hold(to.openDirectory(name)));
      } else {
        set.put(from, name, to, name, false);
      }
    }
  }

  private static List<DirectoryEntry> entries(Directory directory) {
    List<DirectoryEntry> entries = new ArrayList<>();
    try (DirectoryReader reader = directory.entries()) {
      for (var next = reader.next(); next.isPresent(); next = reader.next()) {
        entries.add(next.get());
      }
    }
    return entries;
  }

  private static Optional<FileKind> kind(Directory in, FileName name) {
    try {
      return Optional.of(in.stat(name).kind());
    } catch (LinuxException e) {
      if (e.is(Errno.ENOENT)) {
        return Optional.empty();
      }
      throw e;
    }
  }
}
