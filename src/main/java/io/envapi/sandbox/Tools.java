package io.envapi.sandbox;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The programs of the host that put a process into its confinement. */
final class Tools {

  private static final List<String> USUAL =
      List.of("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin");

  /** Where shells look for programs. */
  static final String PATH = String.join(":", USUAL);

  private Tools() {}

  /** The program as an absolute path: from the service's {@code PATH}, else the usual places. */
  static Optional<Path> find(String name) {
    Set<String> directories = new LinkedHashSet<>();
    String path = System.getenv("PATH");
    if (path != null) {
      directories.addAll(List.of(path.split(":", -1)));
    }
    directories.addAll(USUAL);
    return directories.stream()
        .filter(directory -> directory.startsWith("/"))
        .map(directory -> Path.of(directory, name))
        .filter(Files::isExecutable)
        .findFirst();
  }

  /** As {@link #find}, for a program known to be there. */
  static String require(String name) {
    return find(name)
        .orElseThrow(() -> new IllegalStateException(name + " is not installed"))
        .toString();
  }

  /** Those of {@code names} that are not installed. */
  static List<String> missing(List<String> names) {
    return names.stream().filter(name -> find(name).isEmpty()).toList();
  }
}
