package io.envapi.sandbox;

import io.envapi.process.ProcFs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/** Questions about all processes of the host; each reads a file of every one of them. */
final class ProcessScan {

  private ProcessScan() {}

  /** The processes whose real user is {@code uid}. */
  static List<Integer> ofUser(int uid) {
    return ProcFs.pids().stream()
        .filter(pid -> field(pid, "Uid:").filter(is(Integer.toString(uid))).isPresent())
        .toList();
  }

  /** The processes in the pid namespace that {@code member} is in. */
  static List<Integer> inPidNamespaceOf(int member) {
    Optional<String> namespace = pidNamespace(member);
    return namespace.isEmpty()
        ? List.of()
        : ProcFs.pids().stream().filter(pid -> pidNamespace(pid).equals(namespace)).toList();
  }

  /** What the kernel counts against RLIMIT_NPROC: threads. */
  static long threads(List<Integer> processes) {
    return processes.stream()
        .map(pid -> field(pid, "Threads:"))
        .flatMap(Optional::stream)
        .mapToLong(Long::parseLong)
        .sum();
  }

  private static Predicate<String> is(String value) {
    return value::equals;
  }

  /** The first value after {@code name} in {@code /proc/<pid>/status}. */
  private static Optional<String> field(int pid, String name) {
    try {
      return Files.readAllLines(Path.of("/proc/" + pid + "/status")).stream()
          .filter(line -> line.startsWith(name))
          .map(line -> line.substring(name.length()).strip().split("\\s", -1)[0])
          .findFirst();
    } catch (IOException | java.io.UncheckedIOException e) {
      return Optional.empty();
    }
  }

  private static Optional<String> pidNamespace(int pid) {
    try {
      return Optional.of(Files.readSymbolicLink(Path.of("/proc/" + pid + "/ns/pid")).toString());
    } catch (IOException e) {
      return Optional.empty();
    }
  }
}
