package io.envapi.sandbox;

import io.envapi.id.EnvironmentId;
import io.envapi.id.ShellId;
import io.envapi.linux.Child;
import io.envapi.linux.Spawn;
import io.envapi.linux.Spawner;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The control groups this service can make (cgroups(7)): one below another for every environment,
 * and in it one for every shell, in each hierarchy that is writable.
 *
 * <p>On a host with version 2 alone they hold limits and members. On one with version 1 its {@code
 * memory} and {@code pids} hierarchies do; a version 2 mount beside them, which has no controller
 * then, is used only where they are not writable.
 *
 * <p>Moving a process from one group to another makes the kernel wait until every processor has
 * passed a quiet point, about ten milliseconds. In version 1 a thread that moves itself does not
 * wait: there the spawning thread enters the group, so that the process is born in it.
 */
final class Cgroups {

  /** The directory below the service's own group in which all of its groups are. */
  private static final String BASE = "envapi";

  private static final int SEARCH_DEPTH = 6;

  /** What the shell itself and what wraps it have used by the time they are limited, in bytes. */
  private static final long LEAST_MEMORY = 4 << 20;

  /** {@code PID_MAX_LIMIT} of {@code <linux/threads.h>}; {@code pids.max} takes no more. */
  static final long MOST_PROCESSES = 4_194_304;

  private final Optional<Path> unified;
  private final Optional<Path> memoryV1;
  private final Optional<Path> pidsV1;
  private final boolean controllersV2;
  private final List<Path> earlier;

  /** The groups the service's threads are in, in the hierarchies of version 1 that are used. */
  private final List<Path> home;

  private Cgroups(
      Optional<Path> unified,
      boolean controllersV2,
      Optional<Path> memoryV1,
      Optional<Path> pidsV1,
      List<Path> home,
      List<Path> earlier) {
    this.unified = unified;
    this.controllersV2 = controllersV2;
    this.memoryV1 = memoryV1;
    this.pidsV1 = pidsV1;
    this.home = List.copyOf(home);
    this.earlier = List.copyOf(earlier);
  }

  /** None at all. */
  static Cgroups none() {
    return new Cgroups(
        Optional.empty(), false, Optional.empty(), Optional.empty(), List.of(), List.of());
  }

  /** What of them this host lets us use, found out by using it. */
  static Cgroups detect() {
    List<CgroupMount> mounts = CgroupMount.ofThisProcess();
    Optional<Path> memory = base(mounts, "memory");
    Optional<Path> pids = base(mounts, "pids");
    Optional<CgroupMount> v2 = mounts.stream().filter(CgroupMount::unified).findFirst();
    boolean controllers =
        memory.isEmpty() && pids.isEmpty() && v2.map(CgroupMount::delegate).orElse(false);
    boolean v1 = memory.isPresent() || pids.isPresent();
    Optional<Path> unified =
        v1 ? Optional.empty() : v2.flatMap(mount -> made(mount.own().resolve(BASE)));
    if (controllers && unified.isPresent()) {
      controllers = Cgroup.write(unified.get(), "cgroup.subtree_control", "+memory +pids");
    }
    Stream<Path> present = Stream.of(unified, memory, pids).flatMap(Optional::stream);
    List<Path> bases = present.toList();
    return new Cgroups(
        unified,
        controllers && unified.isPresent(),
        memory,
        pids,
        Stream.of(memory, pids).flatMap(Optional::stream).map(Path::getParent).toList(),
        mounts.stream()
            .flatMap(mount -> bases(mount.point()))
            .filter(base -> !bases.contains(base))
            .distinct()
            .toList());
  }

  /** Where an earlier run, which was in another group itself, may have left groups. */
  private static Stream<Path> bases(Path point) {
    try (Stream<Path> groups = Files.find(point, SEARCH_DEPTH, (path, _) -> path.endsWith(BASE))) {
      return groups.toList().stream();
    } catch (IOException | UncheckedIOException e) {
      return Stream.empty();
    }
  }

  /** {@code v2} or {@code v1}, whichever holds limits, else {@code none}. */
  String version() {
    if (controllersV2) {
      return "v2";
    }
    return holdsMemory() || holdsProcesses() ? "v1" : "none";
  }

  /** Whether memory limits are held. */
  boolean holdsMemory() {
    return controllersV2 || memoryV1.isPresent();
  }

  /** Whether limits on the number of processes are held. */
  boolean holdsProcesses() {
    return controllersV2 || pidsV1.isPresent();
  }

  /** Whether groups know their members. */
  boolean available() {
    return unified.isPresent() || memoryV1.isPresent() || pidsV1.isPresent();
  }

  /** The group of what keeps an environment; empty when there are none or it cannot be made. */
  Optional<Cgroup> holder(EnvironmentId environment) {
    return available() ? create(environment, "holder") : Optional.empty();
  }

  /**
   * The group of one shell, without limits yet: a thread of the service passes through it, which
   * could neither leave a full group nor do anything else there, and takes the service with it.
   * Empty when there are none or it cannot be made.
   */
  Optional<Cgroup> shell(ShellId shell) {
    return available() ? create(shell.environment(), "shell-" + shell.number()) : Optional.empty();
  }

  /** Starts a process in a group. Whether it got there is for {@link Cgroup#contains} to tell. */
  Child spawn(Spawner spawner, Spawn spawn, Cgroup group) {
    if (home.isEmpty()) {
      Child child = spawner.spawn(spawn);
      group.add(child.pid());
      return child;
    }
    return spawner.spawn(
        spawn,
        () -> group.directories().forEach(Cgroups::enter),
        () -> home.forEach(Cgroups::enter));
  }

  /** Moves the calling thread alone. */
  private static boolean enter(Path directory) {
    return Cgroup.write(directory, "tasks", "0");
  }

  /** Every group of an environment that exists, whichever service made it. */
  Cgroup existing(EnvironmentId environment) {
    return new Cgroup(
        Stream.concat(directories().stream(), earlier.stream())
            .map(base -> base.resolve(environment.hex()))
            .filter(Files::isDirectory)
            .toList());
  }

  private Optional<Cgroup> create(EnvironmentId environment, String leaf) {
    List<Path> made = new ArrayList<>();
    for (Path base : directories()) {
      Path parent = base.resolve(environment.hex());
      if (made(parent).isEmpty()) {
        continue;
      }
      if (controllersV2) {
        Cgroup.write(parent, "cgroup.subtree_control", "+memory +pids");
      }
      made(parent.resolve(leaf)).ifPresent(made::add);
    }
    return made.isEmpty() ? Optional.empty() : Optional.of(new Cgroup(made));
  }

  /**
   * Puts its limits on a shell's group, whose processes are in it by then and run nothing of the
   * caller's yet.
   *
   * @param wrappers the processes of ours that are in it besides the shell's own
   * @return false when a limit that can be held is not
   */
  boolean limit(Cgroup group, Limits limits, int wrappers) {
    long most = MOST_PROCESSES - wrappers;
    String processes = Long.toString(Math.min(limits.processes(), most) + wrappers);
    String memory = Long.toString(Math.max(limits.memoryBytes(), LEAST_MEMORY));
    boolean held = true;
    if (holdsProcesses()) {
      held = group.set("pids.max", processes);
    }
    if (controllersV2) {
      held &= group.set("memory.max", memory);
      group.set("memory.swap.max", "0");
    } else if (holdsMemory()) {
      held &= group.set("memory.limit_in_bytes", memory);
      group.set("memory.memsw.limit_in_bytes", memory);
    }
    return held;
  }

  /** One directory of each hierarchy, the one that knows the members best first. */
  private List<Path> directories() {
    return Stream.of(unified, pidsV1, memoryV1).flatMap(Optional::stream).distinct().toList();
  }

  private static Optional<Path> base(List<CgroupMount> mounts, String controller) {
    return mounts.stream()
        .filter(mount -> mount.controllers().contains(controller))
        .findFirst()
        .flatMap(mount -> made(mount.own().resolve(BASE)));
  }

  private static Optional<Path> made(Path directory) {
    try {
      return Optional.of(Files.createDirectories(directory))
          .filter(made -> Files.isWritable(made.resolve("cgroup.procs")));
    } catch (IOException e) {
      return Optional.empty();
    }
  }
}
