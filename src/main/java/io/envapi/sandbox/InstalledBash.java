package io.envapi.sandbox;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The shells a person may prefer to the deployment's: other builds of bash in the system's
 * directories, which sandboxes see as the host does. No other shell can speak the protocol by which
 * the end of a command is known.
 */
final class InstalledBash {

  private static final Pattern PLACE =
      Pattern.compile("(/usr|/usr/local)?/bin/bash(-?[0-9]+(\\.[0-9]+){0,2})?");

  private InstalledBash() {}

  /**
   * The path to start.
   *
   * @param wanted as the person wrote it; empty for {@code bash}, which is the deployment's, and
   *     for whatever is no bash or not installed
   */
  static Optional<String> find(String wanted) {
    return PLACE.matcher(wanted).matches() && isInstalled(Path.of(wanted))
        ? Optional.of(wanted)
        : Optional.empty();
  }

  /** A link may lead to another of the places and nowhere else. */
  private static boolean isInstalled(Path path) {
    try {
      Path real = path.toRealPath();
      var file = Files.readAttributes(real, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
      Set<PosixFilePermission> mode = file.permissions();
      return PLACE.matcher(real.toString()).matches()
          && file.isRegularFile()
          && mode.contains(PosixFilePermission.OTHERS_EXECUTE)
          && !mode.contains(PosixFilePermission.OTHERS_WRITE)
          && !mode.contains(PosixFilePermission.GROUP_WRITE);
    } catch (IOException e) {
      return false;
    }
  }
}
