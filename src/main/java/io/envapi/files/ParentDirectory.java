package io.envapi.files;

import io.envapi.linux.Directory;
import io.envapi.linux.Errno;
import io.envapi.linux.FileName;
import io.envapi.linux.LinuxException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/**
 * The directory a name is to be made in. Missing ones are made on the way and removed again unless
 * {@link #keep} says that they are needed.
 */
final class ParentDirectory implements AutoCloseable {

  /** The most directories one request makes. */
  private static final int MOST_NEW = 256;

  private static final int MODE = 0755;

  /** {@code ours}: made here, not by somebody in the workspace at the same moment. */
  private record Step(Directory in, FileName name, boolean ours) {}

  private final WorkspaceRoot root;
  private final Deque<Step> made = new ArrayDeque<>();
  private Directory at;
  private boolean kept;

  private ParentDirectory(WorkspaceRoot root, Directory at) {
    this.root = root;
    this.at = at;
  }

  /** Opens the directory {@code names} lead to, making what is missing. */
  static ParentDirectory open(WorkspaceRoot root, List<FileName> names, SentPath sent) {
    try {
      return new ParentDirectory(root, root.directory().openDirectory(names));
    } catch (LinuxException e) {
      if (!e.is(Errno.ENOENT)) {
        throw Refusal.of(e, sent);
      }
    }
    ParentDirectory parent = new ParentDirectory(root, root.directory().openDirectory(List.of()));
    try {
      for (FileName name : names) {
        parent.descend(name);
      }
      return parent;
    } catch (LinuxException e) {
      parent.close();
      throw Refusal.of(e, sent);
    } catch (Refusal e) {
      parent.close();
      throw e;
    }
  }

  Directory directory() {
    return at;
  }

  private void descend(FileName name) {
    Directory next;
    try {
      next = at.openDirectory(name);
    } catch (LinuxException e) {
      if (!e.is(Errno.ENOENT)) {
        throw e;
      }
      make(name);
      return;
    }
    if (made.isEmpty()) {
      at.close();
    } else {
      // Made by somebody else below one that we made.
      made.push(new Step(at, name, false));
    }
    at = next;
  }

  private void make(FileName name) {
    if (made.size() == MOST_NEW) {
      throw Refusal.invalid("the path has more than " + MOST_NEW + " new directories", "path");
    }
    boolean ours = true;
    try {
      at.makeDirectory(name, MODE);
    } catch (LinuxException e) {
      if (!e.is(Errno.EEXIST)) {
        throw e;
      }
      ours = false;
    }
    made.push(new Step(at, name, ours));
    at = at.openDirectory(name);
    if (ours) {
      // The umask applied to mkdir.
      at.chown(root.uid(), root.gid());
      at.chmod(MODE);
    }
  }

  /** What was made stays, and is on the disk. */
  void keep() {
    kept = true;
    made.forEach(each -> each.in().sync());
  }

  @Override
  public void close() {
    at.close();
    while (!made.isEmpty()) {
      Step step = made.pop();
      try (Directory in = step.in()) {
        if (!kept && step.ours()) {
          in.removeDirectory(step.name());
        }
      } catch (LinuxException e) {
        // Somebody put something in it meanwhile: it is theirs now.
        kept = true;
      }
    }
  }
}
