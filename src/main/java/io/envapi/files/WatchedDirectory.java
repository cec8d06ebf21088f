package io.envapi.files;

import io.envapi.linux.FileName;
import io.envapi.linux.FileStat;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A directory with a watch of the kernel, which stays with it wherever it is moved, and the watched
 * ones in it.
 */
final class WatchedDirectory {

  private record Place(WatchedDirectory in, FileName name) {}

  private final int watch;
  private final FileStat stat;
  private final Map<FileName, WatchedDirectory> below = new HashMap<>();
  private Optional<Place> place = Optional.empty();

  WatchedDirectory(int watch, FileStat stat) {
    this.watch = watch;
    this.stat = stat;
  }

  int watch() {
    return watch;
  }

  boolean is(FileStat other) {
    return stat.isSameFile(other);
  }

  Optional<WatchedDirectory> find(FileName name) {
    return Optional.ofNullable(below.get(name));
  }

  List<WatchedDirectory> below() {
    return List.copyOf(below.values());
  }

  /** The name must be free, and {@code directory} in no place. */
  void put(FileName name, WatchedDirectory directory) {
    below.put(name, directory);
    directory.place = Optional.of(new Place(this, name));
  }

  /** Leaves its place, with all below it. */
  void takeOut() {
    place.ifPresent(from -> from.in().below.remove(from.name()));
    place = Optional.empty();
  }

  /** From the top, which has no place, to this one. */
  List<FileName> names() {
    Deque<FileName> names = new ArrayDeque<>();
    for (var at = place; at.isPresent(); at = at.get().in().place) {
      names.addFirst(at.get().name());
    }
    return List.copyOf(names);
  }

  /** This one and all below it. */
  List<WatchedDirectory> all() {
    List<WatchedDirectory> all = new ArrayList<>(List.of(this));
    for (int i = 0; i < all.size(); i++) {
      all.addAll(all.get(i).below.values());
    }
    return all;
  }
}
