package io.envapi.files;

import io.envapi.linux.Directory;
import io.envapi.linux.DirectoryEntry;
import io.envapi.linux.DirectoryReader;
import io.envapi.linux.FileKind;
import io.envapi.linux.FileName;
import io.envapi.linux.FileStat;
import io.envapi.linux.LinuxException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/**
 * Visits everything beneath a directory, however deep, with three descriptors: on its way up it
 * opens {@code ..} and checks that this is the directory it came from. Links are not entered, nor
 * other mounts. For one thread.
 */
final class TreeWalk {

  /** What is done on the way; an exception ends the walk. */
  interface Visitor {

    /** An entry that is no directory. */
    void file(Directory in, DirectoryEntry entry);

    default Directory enter(Directory in, FileName name) {
      return in.openDirectory(name);
    }

    /** A directory could not be entered, or read. */
    default void unavailable(LinuxException why) {}

    /** All that is beneath {@code name} has been visited. */
    default void left(Directory in, FileName name) {}
  }

  private record Frame(Optional<FileName> name, FileStat stat, Deque<FileName> pending) {}

  private final Directory root;
  private final Visitor visitor;
  private final Deque<Frame> stack = new ArrayDeque<>();
  private Directory at;

  TreeWalk(Directory root, Visitor visitor) {
    this.root = root;
    this.visitor = visitor;
    this.at = root;
  }

  /**
   * Visits all of it.
   *
   * @return false when a directory was moved away during the visit, so that something was left out
   */
  boolean run() {
    try {
      stack.push(read(Optional.empty()));
      while (true) {
        FileName next = stack.element().pending().poll();
        if (next != null) {
          down(next);
        } else if (stack.size() == 1) {
          return true;
        } else if (!up()) {
          return false;
        }
      }
    } finally {
      leave(root);
    }
  }

  private void leave(Directory next) {
    if (at != root) {
      at.close();
    }
    at = next;
  }

  private Frame read(Optional<FileName> name) {
    Frame frame = new Frame(name, at.stat(), new ArrayDeque<>());
    try {
      read(frame);
    } catch (LinuxException e) {
      visitor.unavailable(e);
    }
    return frame;
  }

  private void read(Frame frame) {
    try (DirectoryReader entries = at.entries()) {
      for (var entry = entries.next(); entry.isPresent(); entry = entries.next()) {
        if (entry.get().kind() == FileKind.DIRECTORY) {
          frame.pending().add(entry.get().name());
        } else {
          visitor.file(at, entry.get());
        }
      }
    }
  }

  private void down(FileName name) {
    Directory next;
    try {
      next = visitor.enter(at, name);
    } catch (LinuxException e) {
      visitor.unavailable(e);
      visitor.left(at, name);
      return;
    }
    leave(next);
    stack.push(read(Optional.of(name)));
  }

  private boolean up() {
    Frame done = stack.pop();
    Optional<Directory> parent = stack.size() == 1 ? Optional.of(root) : parent();
    if (parent.isEmpty()) {
      return false;
    }
    leave(parent.get());
    done.name().ifPresent(name -> visitor.left(at, name));
    return true;
  }

  private Optional<Directory> parent() {
    FileStat expected = stack.element().stat();
    try {
      Directory parent = at.openParent();
      if (parent.stat().isSameFile(expected)) {
        return Optional.of(parent);
      }
      parent.close();
    } catch (LinuxException e) {
      // No right to look up .. there: go by the names from the top instead.
      return again(expected);
    }
    return again(expected);
  }

  private Optional<Directory> again(FileStat expected) {
    List<FileName> names = new ArrayList<>();
    stack.descendingIterator().forEachRemaining(frame -> frame.name().ifPresent(names::add));
    try {
      Directory parent = root.openDirectory(names);
      if (parent.stat().isSameFile(expected)) {
        return Optional.of(parent);
      }
      parent.close();
      return Optional.empty();
    } catch (LinuxException e) {
      return Optional.empty();
    }
  }
}
