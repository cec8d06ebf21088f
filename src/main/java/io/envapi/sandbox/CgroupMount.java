package io.envapi.sandbox;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A hierarchy of control groups as this process sees it (cgroups(7), proc_pid_mountinfo(5)).
 *
 * @param unified whether it is of version 2
 * @param controllers the controllers of a version 1 hierarchy
 * @param point where it is mounted
 * @param own the directory of the group this process is in
 */
record CgroupMount(boolean unified, Set<String> controllers, Path point, Path own) {

  private static final List<String> WANTED = List.of("memory", "pids");

  /** Where the service itself goes so that its own group may have children with limits. */
  private static final String SERVICE = "envapi-service";

  static List<CgroupMount> ofThisProcess() {
    try {
      return parse(
          Files.readAllLines(Path.of("/proc/self/mountinfo")),
          Files.readAllLines(Path.of("/proc/self/cgroup")));
    } catch (IOException e) {
      return List.of();
    }
  }

  static List<CgroupMount> parse(List<String> mountInfo, List<String> memberships) {
    List<CgroupMount> mounts = new ArrayList<>();
    for (String line : mountInfo) {
      String[] halves = line.split(" - ", 2);
      String[] mount = halves[0].split(" ", -1);
      String[] source = halves.length == 2 ? halves[1].split(" ", -1) : new String[0];
      if (mount.length < 5 || source.length < 3 || !source[0].startsWith("cgroup")) {
        continue;
      }
      boolean unified = source[0].equals("cgroup2");
      Set<String> controllers =
          unified ? Set.of() : new HashSet<>(List.of(source[2].split(",", -1)));
      String path = membership(memberships, unified, controllers);
      Path point = Path.of(mount[4]);
      mounts.add(new CgroupMount(unified, controllers, point, own(point, mount[3], path)));
    }
    return mounts;
  }

  private static String membership(
      List<String> memberships, boolean unified, Set<String> controllers) {
    for (String line : memberships) {
      String[] fields = line.split(":", 3);
      if (fields.length < 3) {
        continue;
      }
      boolean match =
          unified
              ? fields[0].equals("0") && fields[1].isEmpty()
              : List.of(fields[1].split(",", -1)).stream().anyMatch(controllers::contains);
      if (match) {
        return fields[2];
      }
    }
    return "/";
  }

  /** In a container the mount shows a part of the hierarchy, while the path may be the host's. */
  private static Path own(Path point, String root, String path) {
    Path shown = Path.of(root);
    Path full = Path.of(path);
    if (!full.startsWith(shown) || path.contains("..")) {
      return point;
    }
    Path own = point.resolve(shown.relativize(full).toString());
    return Files.isDirectory(own) ? own : point;
  }

  /**
   * Makes the memory and process controllers usable below {@link #own}. A group of version 2 with
   * processes in it cannot give controllers to its children, so the service moves to a child of its
   * own; it does so only where nobody else's processes are in the group.
   */
  boolean delegate() {
    try {
      List<String> offered =
          List.of(Files.readString(own.resolve("cgroup.controllers")).strip().split(" ", -1));
      if (!offered.containsAll(WANTED)) {
        return false;
      }
      if (enable()) {
        return true;
      }
      String self = Long.toString(ProcessHandle.current().pid());
      if (!Files.readAllLines(own.resolve("cgroup.procs")).equals(List.of(self))) {
        return false;
      }
      Path service = Files.createDirectories(own.resolve(SERVICE));
      return Cgroup.write(service, "cgroup.procs", self) && enable();
    } catch (IOException e) {
      return false;
    }
  }

  private boolean enable() {
    return Cgroup.write(own, "cgroup.subtree_control", "+memory +pids");
  }
}
