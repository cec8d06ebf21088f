package io.envapi.app;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * What the kernel itself could limit on the file system of the data root, as its mount says
 * (proc_pid_mountinfo(5)). The service does not rely on it.
 */
record DiskQuotas(String fileSystem, List<String> enforced) {

  /** How xfs, ext4 and f2fs show that quotas are in force. */
  private static final Set<String> OPTIONS =
      Set.of("prjquota", "pquota", "usrquota", "uquota", "quota", "grpquota", "gquota");

  /** Of the mount that {@code path}, or the closest directory above it that exists, is on. */
  static Optional<DiskQuotas> of(Path path) {
    try {
      return of(real(path.toAbsolutePath()), Files.readAllLines(Path.of("/proc/self/mountinfo")));
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  /**
   * @param lines of {@code mountinfo}; of several mounts on one directory the last is seen
   */
  static Optional<DiskQuotas> of(Path real, List<String> lines) {
    return lines.stream()
        .map(line -> line.split(" "))
        .filter(fields -> fields.length > 6 && real.startsWith(unescaped(fields[4])))
        .reduce((one, other) -> depth(other) >= depth(one) ? other : one)
        .map(DiskQuotas::read);
  }

  /** {@code ... mount-point options [tags] - type source super-options}. */
  private static DiskQuotas read(String[] fields) {
    int dash = List.of(fields).indexOf("-");
    String superOptions = fields[fields.length - 1];
    return new DiskQuotas(
        fields[dash + 1],
        Stream.of(superOptions.split(","))
            .filter(OPTIONS::contains)
            .sorted(Comparator.naturalOrder())
            .toList());
  }

  private static int depth(String[] fields) {
    return Path.of(unescaped(fields[4])).getNameCount();
  }

  private static String unescaped(String text) {
    return text.replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\");
  }

  private static Path real(Path path) throws IOException {
    for (Path at : Stream.iterate(path, Objects::nonNull, Path::getParent).toList()) {
      if (Files.exists(at)) {
        return at.toRealPath();
      }
    }
    return path;
  }

  /** One line for an operator. */
  String line() {
    return enforced.isEmpty()
        ? "disk       %s without quotas of the kernel: what shells write is measured"
            .formatted(fileSystem)
        : "disk       %s with %s in force; the service measures by itself all the same"
            .formatted(fileSystem, String.join(", ", enforced));
  }
}
