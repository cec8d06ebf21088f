package io.envapi.sandbox;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.List;

/**
 * What of the host a sandbox shows, read-only: its programs, and of {@code /etc} what programs
 * need. Files that often hold credentials (of package managers, git, wget) are left out; an
 * operator can add paths.
 */
final class SandboxRoot {

  /** Directories at the top; on most systems some are links into {@code /usr}. */
  private static final List<String> SYSTEM =
      List.of("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt");

  private static final List<String> ETC =
      List.of(
          "/etc/alternatives",
          "/etc/ca-certificates",
          "/etc/ca-certificates.conf",
          "/etc/crypto-policies",
          "/etc/debian_version",
          "/etc/dpkg",
          "/etc/fonts",
          "/etc/gai.conf",
          "/etc/host.conf",
          "/etc/inputrc",
          "/etc/ld.so.cache",
          "/etc/ld.so.conf",
          "/etc/ld.so.conf.d",
          "/etc/locale.alias",
          "/etc/locale.conf",
          "/etc/localtime",
          "/etc/lsb-release",
          "/etc/magic",
          "/etc/maven/logging",
          "/etc/maven/m2.conf",
          "/etc/mime.types",
          "/etc/networks",
          "/etc/nsswitch.conf",
          "/etc/os-release",
          "/etc/perl",
          "/etc/pki",
          "/etc/protocols",
          "/etc/rpc",
          "/etc/services",
          "/etc/ssl",
          "/etc/terminfo",
          "/etc/timezone",
          "/etc/vim",
          // What apt-get download needs, without its credentials and its configuration.
          "/etc/apt/keyrings",
          "/etc/apt/preferences.d",
          "/etc/apt/sources.list",
          "/etc/apt/sources.list.d",
          "/etc/apt/trusted.gpg",
          "/etc/apt/trusted.gpg.d",
          "/var/lib/apt/lists",
          "/var/lib/dpkg/status");

  /** Of which there is one per version. */
  private static final String ETC_VERSIONED = "{java*,python3*,php*,ruby*}";

  private SandboxRoot() {}

  /** The options of bubblewrap that show it; the same for every environment of the host. */
  static List<String> options(List<Path> extra, boolean network) {
    List<String> options = new ArrayList<>();
    SYSTEM.forEach(directory -> show(Path.of(directory), options));
    ETC.forEach(path -> bind(Path.of(path), options));
    versioned().forEach(path -> bind(path, options));
    if (network) {
      bind(Path.of("/etc/resolv.conf"), options);
    }
    extra.forEach(path -> bind(path, options));
    return options;
  }

  /** A link stays a link, so that paths look as on the host. */
  private static void show(Path path, List<String> options) {
    if (!Files.isSymbolicLink(path)) {
      bind(path, options);
      return;
    }
    try {
      options.addAll(
          List.of("--symlink", Files.readSymbolicLink(path).toString(), path.toString()));
    } catch (IOException e) {
      bind(path, options);
    }
  }

  private static void bind(Path path, List<String> options) {
    if (readableByAll(path)) {
      options.addAll(List.of("--ro-bind", path.toString(), path.toString()));
    }
  }

  /** The environment's user is nobody special on the host. */
  private static boolean readableByAll(Path path) {
    try {
      var permissions = Files.getPosixFilePermissions(path.toRealPath());
      return permissions.contains(PosixFilePermission.OTHERS_READ)
          && (!Files.isDirectory(path) || permissions.contains(PosixFilePermission.OTHERS_EXECUTE));
    } catch (IOException e) {
      return false;
    }
  }

  private static List<Path> versioned() {
    List<Path> found = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(Path.of("/etc"), ETC_VERSIONED)) {
      for (Path entry : entries) {
        if (Files.isDirectory(entry, LinkOption.NOFOLLOW_LINKS)) {
          found.add(entry);
        }
      }
    } catch (IOException e) {
      return found;
    }
    return found;
  }
}
