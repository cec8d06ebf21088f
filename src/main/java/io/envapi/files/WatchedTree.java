package io.envapi.files;

import io.envapi.linux.Directory;
import io.envapi.linux.DirectoryEntry;
import io.envapi.linux.DirectoryReader;
import io.envapi.linux.Errno;
import io.envapi.linux.FileKind;
import io.envapi.linux.FileName;
import io.envapi.linux.Inotify;
import io.envapi.linux.LinuxException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The watched directories, where the events so far say that they are. The disk may be ahead of
 * that: what does not fit is left as it is until its events have come, and is {@link #isRight
 * looked at} then.
 */
final class WatchedTree {

  /** The most directories one watch takes from the host. */
  private static final int MOST_DIRECTORIES = 4096;

  /** Who looks at what is on the disk. */
  interface Finder {

    /** Whether a directory is to be watched, if it is one. */
    boolean isWanted(WatchedDirectory in, FileName name);

    /** A name in a directory that was not watched before. */
    void found(List<FileName> names);
  }

  /** For what nobody has to be told of. */
  private static final Finder SILENT =
      new Finder() {
        @Override
        public boolean isWanted(WatchedDirectory in, FileName name) {
          return true;
        }

        @Override
        public void found(List<FileName> names) {}
      };

  private record Place(WatchedDirectory in, FileName name) {}

  private final Directory root;
  private final List<FileName> path;
  private final int depth;
  private final Inotify inotify;
  private final WatchedDirectory top;
  private final Map<Integer, WatchedDirectory> watched = new HashMap<>();

  /** The watches of the top and of what is above it: the path leads elsewhere when they move. */
  private final Set<Integer> above = new HashSet<>();

  private final Set<WatchedDirectory> unsure = new HashSet<>();

  /** What could not be looked at since the events so far have it, or its directory, elsewhere. */
  private final Set<Place> skipped = new HashSet<>();

  /** An event did not fit the tree at all. */
  private boolean broken;

  private WatchedTree(Directory root, List<FileName> path, int depth, Inotify inotify) {
    this.root = root;
    this.path = path;
    this.depth = depth;
    this.inotify = inotify;
    try (Directory directory = root.openDirectory(path)) {
      this.top = new WatchedDirectory(inotify.watch(directory), directory.stat());
    }
    above.add(top.watch());
    watched.put(top.watch(), top);
  }

  /**
   * Watches a directory and those to {@code depth} below it; empty when they are too many.
   *
   * @throws LinuxException when the directory itself cannot be watched
   */
  static Optional<WatchedTree> open(
      Directory root, List<FileName> path, int depth, Inotify inotify) {
    try {
      var tree = new WatchedTree(root, path, depth, inotify);
      boolean all = tree.watchAbove() && tree.exploreTop();
      tree.trust();
      return all ? Optional.of(tree) : Optional.empty();
    } catch (LinuxException e) {
      if (e.is(Errno.ENOSPC)) {
        return Optional.empty();
      }
      throw e;
    }
  }

  private boolean watchAbove() {
    for (int i = 1; i < path.size(); i++) {
      if (above.size() == MOST_DIRECTORIES) {
        return false;
      }
      try (Directory directory = root.openDirectory(path.subList(0, i))) {
        above.add(inotify.watchPlace(directory));
      } catch (LinuxException e) {
        // One that may be passed but not read cannot be watched.
        if (!e.is(Errno.EACCES)) {
          throw e;
        }
      }
    }
    return true;
  }

  /** Whether the path leads to the top no more, or the top is gone. */
  boolean isEnd(Inotify.Event event) {
    boolean moved = event.kind() == Inotify.Kind.MOVED_AWAY && !path.isEmpty();
    return (moved || event.kind() == Inotify.Kind.ENDED) && above.contains(event.watch());
  }

  Optional<WatchedDirectory> find(int watch) {
    return Optional.ofNullable(watched.get(watch));
  }

  List<FileName> names(WatchedDirectory directory) {
    return joined(path, directory.names());
  }

  List<FileName> names(WatchedDirectory in, FileName name) {
    return joined(names(in), List.of(name));
  }

  private static List<FileName> joined(List<FileName> names, List<FileName> more) {
    List<FileName> all = new ArrayList<>(names);
    all.addAll(more);
    return List.copyOf(all);
  }

  /** Whether the path leads to the top still. */
  boolean isTopThere() {
    return isThere(top);
  }

  /** Whether a directory is on the disk where it is in the tree. */
  boolean isThere(WatchedDirectory directory) {
    try {
      return directory.is(root.stat(names(directory)));
    } catch (LinuxException e) {
      return switch (e.errno()) {
        case Errno.ENOENT, Errno.ENOTDIR, Errno.ELOOP, Errno.EXDEV -> false;
        // Nobody can tell.
        default -> true;
      };
    }
  }

  /** Whether something is on the disk at a place. */
  boolean exists(WatchedDirectory in, FileName name) {
    try (Directory directory = root.openDirectory(names(in))) {
      directory.stat(name);
      return true;
    } catch (LinuxException e) {
      return false;
    }
  }

  /**
   * Whether the tree is as the disk where there was a doubt, which is so when it has all events.
   */
  boolean isRight() {
    unsure.removeIf(directory -> !isWatched(directory) || isThere(directory));
    return unsure.isEmpty() && !broken;
  }

  void trust() {
    unsure.clear();
    skipped.clear();
    broken = false;
  }

  /** Gives a directory, with all below it, another place; too deep a one is no longer watched. */
  void move(WatchedDirectory directory, WatchedDirectory in, FileName name) {
    directory.takeOut();
    if (directory.all().contains(in)) {
      drop(directory);
      broken = true;
      return;
    }
    in.find(name).ifPresent(this::drop);
    in.put(name, directory);
    unsure.add(directory);
    for (WatchedDirectory each : directory.all()) {
      if (isTooDeep(each)) {
        drop(each);
      }
    }
  }

  private boolean isTooDeep(WatchedDirectory directory) {
    return directory.names().size() > depth;
  }

  /** Ends the watches of a directory and of all below it. */
  void drop(WatchedDirectory directory) {
    directory.takeOut();
    for (WatchedDirectory each : directory.all()) {
      if (watched.remove(each.watch(), each)) {
        inotify.forget(each.watch());
      }
    }
  }

  /** Watches the directories at a place and below it; false when there are too many. */
  boolean explore(WatchedDirectory in, FileName name, Finder finder) {
    var place = new Place(in, name);
    if (!isThere(in)) {
      skipped.add(place);
      return true;
    }
    return explore(new ArrayDeque<>(List.of(place)), finder);
  }

  /** As {@link #explore}, of what events kept from being looked at; they have come now. */
  boolean exploreSkipped(Finder finder) {
    List<Place> places = List.copyOf(skipped);
    skipped.clear();
    return places.stream()
        .filter(place -> isWatched(place.in()))
        .allMatch(place -> explore(place.in(), place.name(), finder));
  }

  private boolean isWatched(WatchedDirectory directory) {
    return find(directory.watch()).filter(directory::equals).isPresent();
  }

  /** As {@link #explore}, of all there is; nothing is told. */
  private boolean exploreTop() {
    Deque<Place> pending = new ArrayDeque<>();
    try (Directory directory = root.openDirectory(path)) {
      collect(directory, top, pending, true, SILENT);
    }
    return explore(pending, SILENT);
  }

  private boolean explore(Deque<Place> pending, Finder finder) {
    while (!pending.isEmpty()) {
      Place place = pending.remove();
      if (place.in().names().size() == depth || !finder.isWanted(place.in(), place.name())) {
        continue;
      }
      if (watched.size() + above.size() > MOST_DIRECTORIES) {
        return false;
      }
      try (Directory directory = root.openDirectory(names(place.in(), place.name()))) {
        look(directory, place, pending, finder);
      } catch (LinuxException e) {
        if (e.is(Errno.ENOSPC)) {
          return false;
        }
        // Gone, or not readable: the watch goes on around it. Or moved away with what it is in.
        if (!isThere(place.in())) {
          skipped.add(place);
        }
      }
    }
    return true;
  }

  private void look(Directory directory, Place place, Deque<Place> pending, Finder finder) {
    Optional<WatchedDirectory> known = place.in().find(place.name());
    if (known.isPresent()) {
      unsure.add(known.get());
      if (known.get().is(directory.stat())) {
        collect(directory, known.get(), pending, true, finder);
      } else {
        skipped.add(place);
      }
      return;
    }
    int watch = inotify.watch(directory);
    Optional<WatchedDirectory> elsewhere = find(watch);
    if (elsewhere.isPresent()) {
      unsure.add(elsewhere.get());
      skipped.add(place);
      return;
    }
    var added = new WatchedDirectory(watch, directory.stat());
    place.in().put(place.name(), added);
    watched.put(watch, added);
    unsure.add(added);
    collect(directory, added, pending, false, finder);
  }

  private void collect(
      Directory directory,
      WatchedDirectory in,
      Deque<Place> pending,
      boolean known,
      Finder finder) {
    try (DirectoryReader entries = directory.entries()) {
      for (var next = entries.next(); next.isPresent(); next = entries.next()) {
        DirectoryEntry entry = next.get();
        if (TemporaryFile.isDebris(entry.name())) {
          continue;
        }
        if (!known) {
          finder.found(names(in, entry.name()));
        }
        if (entry.kind() == FileKind.DIRECTORY) {
          pending.add(new Place(in, entry.name()));
        }
      }
    }
  }

  /**
   * Looks anew where everything is; false when there are too many directories.
   *
   * @throws LinuxException when the top cannot be looked at now
   */
  boolean rebuild() {
    Set<Integer> before = new HashSet<>(watched.keySet());
    top.below().forEach(WatchedDirectory::takeOut);
    watched.keySet().retainAll(Set.of(top.watch()));
    boolean all = exploreTop();
    before.removeAll(watched.keySet());
    before.forEach(inotify::forget);
    trust();
    return all;
  }
}
