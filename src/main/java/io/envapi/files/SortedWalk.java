package io.envapi.files;

import io.envapi.linux.Directory;
import io.envapi.linux.DirectoryEntry;
import io.envapi.linux.DirectoryReader;
import io.envapi.linux.FileKind;
import io.envapi.linux.FileName;
import io.envapi.linux.LinuxException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;

/**
 * Visits a few levels of a tree in the order of the names, each directory before what is in it.
 * Holds a descriptor per level. Links are not entered, nor other mounts; what a crash of this
 * service left is passed over.
 */
final class SortedWalk {

  /** Deeper ones are not asked for, and each holds a descriptor. */
  static final int DEEPEST = 10;

  /** The largest directory that is sorted. */
  private static final int MOST_ENTRIES = 1_000_000;

  interface Visitor {

    /**
     * An entry, in its order.
     *
     * @param above the path of {@code in} from the workspace
     * @return false to end the walk
     */
    boolean visit(Directory in, List<FileName> above, DirectoryEntry entry);

    /** Whether to go into a directory that was visited. */
    default boolean enters(Directory in, List<FileName> path) {
      return true;
    }

    /** A directory is about to be closed. */
    default void leaves() {}

    /** A directory that cannot be entered. */
    void unavailable(List<FileName> path);
  }

  private record Level(
      Directory directory, List<FileName> path, Iterator<DirectoryEntry> entries) {}

  private final int depth;
  private final Visitor visitor;
  private final Deque<Level> levels = new ArrayDeque<>();

  SortedWalk(int depth, Visitor visitor) {
    this.depth = Math.clamp(depth, 0, DEEPEST);
    this.visitor = visitor;
  }

  /**
   * Walks from a directory on.
   *
   * @param path where {@code directory} is, from the workspace
   * @param after the path, from {@code directory}, of the last entry that is not to be visited
   *     again; empty to visit all
   */
  void run(Directory directory, List<FileName> path, List<FileName> after) {
    try {
      levels.push(new Level(directory, path, entries(directory, after)));
      while (!levels.isEmpty()) {
        Level level = levels.element();
        if (!level.entries().hasNext()) {
          leave();
        } else if (!visit(level, level.entries().next(), path.size(), after)) {
          return;
        }
      }
    } finally {
      while (!levels.isEmpty()) {
        leave();
      }
    }
  }

  private void leave() {
    visitor.leaves();
    Level level = levels.pop();
    if (!levels.isEmpty()) {
      level.directory().close();
    }
  }

  private boolean visit(Level level, DirectoryEntry entry, int base, List<FileName> after) {
    boolean seen = isSeen(level, entry, base, after);
    if (!seen && !visitor.visit(level.directory(), level.path(), entry)) {
      return false;
    }
    if (entry.kind() == FileKind.DIRECTORY && levels.size() <= depth) {
      List<FileName> path = path(level.path(), entry.name());
      if (visitor.enters(level.directory(), path)) {
        int below = path.size() - base;
        enter(level, entry, path, seen ? after.subList(below, after.size()) : List.of());
      }
    }
    return true;
  }

  /** On the way to where the answer before ended: these were in it, what is in them was not. */
  private static boolean isSeen(Level level, DirectoryEntry entry, int base, List<FileName> after) {
    int above = level.path().size() - base;
    return above < after.size()
        && after.get(above).equals(entry.name())
        && after.subList(0, above).equals(level.path().subList(base, base + above));
  }

  static List<FileName> path(List<FileName> above, FileName name) {
    List<FileName> path = new ArrayList<>(above);
    path.add(name);
    return path;
  }

  private void enter(Level level, DirectoryEntry entry, List<FileName> path, List<FileName> after) {
    Directory next;
    try {
      next = level.directory().openDirectory(entry.name());
    } catch (LinuxException e) {
      visitor.unavailable(path);
      return;
    }
    try {
      levels.push(new Level(next, path, entries(next, after)));
    } catch (LinuxException e) {
      next.close();
      visitor.unavailable(path);
    } catch (Refusal e) {
      next.close();
      throw e;
    }
  }

  /** All entries from the first name of {@code after} on, sorted. */
  private static Iterator<DirectoryEntry> entries(Directory directory, List<FileName> after) {
    List<DirectoryEntry> entries = new ArrayList<>();
    try (DirectoryReader reader = directory.entries()) {
      for (var next = reader.next(); next.isPresent(); next = reader.next()) {
        DirectoryEntry entry = next.get();
        boolean due = after.isEmpty() || entry.name().compareTo(after.getFirst()) >= 0;
        if (due && !TemporaryFile.isDebris(entry.name())) {
          entries.add(entry);
        }
        if (entries.size() > MOST_ENTRIES) {
          throw Refusal.invalid(
              "a directory has more than " + MOST_ENTRIES + " entries", "query", "path");
        }
      }
    }
    entries.sort(Comparator.comparing(DirectoryEntry::name));
    return entries.iterator();
  }
}
