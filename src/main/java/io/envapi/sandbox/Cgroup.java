package io.envapi.sandbox;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * One control group: its directory in each hierarchy, the one that knows its members first.
 *
 * @param directories empty for a group that does not exist
 */
record Cgroup(List<Path> directories) {

  private static final Duration PATIENCE = Duration.ofSeconds(5);
  private static final long PAUSE_NANOS = Duration.ofMillis(1).toNanos();

  Cgroup {
    directories = List.copyOf(directories);
  }

  boolean exists() {
    return !directories.isEmpty();
  }

  /**
   * Moves a process into the group, in every hierarchy.
   *
   * @return false when it is gone or a hierarchy does not take it
   */
  boolean add(int pid) {
    boolean added = true;
    for (Path directory : directories) {
      added &= write(directory, "cgroup.procs", Integer.toString(pid));
    }
    return added;
  }

  /** Whether a process is in the group itself, in every hierarchy. */
  boolean contains(int pid) {
    String line = Integer.toString(pid);
    return directories.stream()
        .allMatch(directory -> lines(directory.resolve("cgroup.procs")).contains(line));
  }

  /**
   * The processes in the group and in the groups below it, in whichever hierarchy. Never the
   * service, one thread of which passes through when it starts a process there.
   */
  TreeSet<Integer> pids() {
    TreeSet<Integer> pids = new TreeSet<>();
    for (Path directory : directories) {
      for (Path group : tree(directory)) {
        for (String line : lines(group.resolve("cgroup.procs"))) {
          pids.add(Integer.parseInt(line));
        }
      }
    }
    pids.remove(Math.toIntExact(ProcessHandle.current().pid()));
    return pids;
  }

  /**
   * Kills everything in a group of version 2 at once (since Linux 5.14). In version 1 there is no
   * such thing: there the members are kept from multiplying while they are killed one by one.
   *
   * @return whether it has been done
   */
  boolean killAtOnce() {
    if (!exists()) {
      return true;
    }
    for (Path directory : directories) {
      tree(directory).forEach(group -> write(group, "pids.max", "0"));
    }
    return write(directories.getFirst(), "cgroup.kill", "1");
  }

  /** Sets a file in whichever hierarchy has it. */
  boolean set(String file, String value) {
    return directories.stream()
        .filter(directory -> Files.exists(directory.resolve(file)))
        .findFirst()
        .map(directory -> write(directory, file, value))
        .orElse(false);
  }

  /** How often the kernel killed a member for want of memory. */
  long memoryKills() {
    for (Path directory : directories) {
      for (String file : List.of("memory.events", "memory.oom_control")) {
        for (String line : lines(directory.resolve(file))) {
          if (line.startsWith("oom_kill ")) {
            return Long.parseLong(line.substring("oom_kill ".length()).strip());
          }
        }
      }
    }
    return 0;
  }

  /**
   * Removes the group and those below it. The members must be gone; the kernel may take a moment to
   * notice.
   *
   * @return whether nothing of it is left
   */
  boolean remove() {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (true) {
      boolean gone = true;
      for (Path directory : directories) {
        gone &= removed(directory);
      }
      if (gone || System.nanoTime() > deadline) {
        return gone;
      }
      LockSupport.parkNanos(PAUSE_NANOS);
    }
  }

  private static boolean removed(Path directory) {
    for (Path group : tree(directory).reversed()) {
      try {
        Files.deleteIfExists(group);
      } catch (DirectoryNotEmptyException e) {
        return false;
      } catch (IOException e) {
        // EBUSY: a member is still on its way out.
        return false;
      }
    }
    return true;
  }

  /** The directory and those below it, each before its children. */
  private static List<Path> tree(Path directory) {
    try (Stream<Path> found = Files.walk(directory)) {
      return found.filter(Files::isDirectory).sorted(Comparator.naturalOrder()).toList();
    } catch (IOException | java.io.UncheckedIOException e) {
      return Files.isDirectory(directory) ? List.of(directory) : List.of();
    }
  }

  private static List<String> lines(Path file) {
    try {
      return Files.readAllLines(file);
    } catch (IOException e) {
      return List.of();
    }
  }

  /** Writes a control file, in one write as the kernel wants it. */
  static boolean write(Path directory, String file, String value) {
    try {
      Files.write(
          directory.resolve(file),
          value.getBytes(StandardCharsets.US_ASCII),
          StandardOpenOption.WRITE);
      return true;
    } catch (NoSuchFileException e) {
      return false;
    } catch (IOException e) {
      return false;
    }
  }
}
