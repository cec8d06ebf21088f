package io.envapi.sandbox;

import io.envapi.failure.Failure;
import io.envapi.failure.Result;
import io.envapi.id.EnvironmentId;
import io.envapi.linux.Child;
import io.envapi.linux.ExitStatus;
import io.envapi.linux.LinuxException;
import io.envapi.linux.Spawn;
import io.envapi.linux.Spawner;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The directories of environments below the data root.
 *
 * <p>What is in a workspace belongs to callers: it may be deeper than any path can be long, hold
 * names that are no text, and links to anywhere. It is deleted by {@code find}, which follows none
 * and stays in the file system.
 */
final class Directories {

  private static final Logger LOG = LoggerFactory.getLogger(Directories.class);
  private static final Failure FAILED =
      new Failure.SandboxFailed("the workspace could not be made");

  /** Others may go through, but not look around. */
  private static final String PASSAGE = "rwx--x--x";

  private static final String OWNER_ONLY = "rwx------";

  private final Path root;
  private final Spawner spawner;

  Directories(Path root, Spawner spawner) {
    this.root = root;
    this.spawner = spawner;
  }

  /** Where the environment's directories are, whether they exist or not. */
  Workspace workspace(EnvironmentId environment, int uid) {
    Path own = root.resolve("environments").resolve(environment.value());
    return new Workspace(own, own.resolve("workspace"), own.resolve("logs"), uid);
  }

  /**
   * Makes what is missing.
   *
   * @param owner whom the workspace is given to, if not the service
   */
  Result<Workspace> prepare(EnvironmentId environment, int uid, OptionalInt owner) {
    Workspace workspace = workspace(environment, uid);
    try {
      directory(root, PASSAGE);
      directory(root.resolve("environments"), PASSAGE);
      directory(workspace.root(), PASSAGE);
      directory(workspace.logs(), OWNER_ONLY);
      directory(workspace.files(), OWNER_ONLY);
      if (owner.isPresent()) {
        give(workspace.files(), owner.getAsInt());
      }
      return Result.ok(workspace);
    } catch (IOException | LinuxException e) {
      LOG.warn("no workspace for {}: {}", environment, e.toString());
      return Result.refused(FAILED);
    }
  }

  /**
   * Gives the owner of a workspace the rights to it back that a caller took away: no shell could
   * start in it any more.
   */
  static void keepEnterable(Workspace workspace) throws IOException {
    Set<PosixFilePermission> owners = PosixFilePermissions.fromString(OWNER_ONLY);
    Set<PosixFilePermission> present =
        Files.getPosixFilePermissions(workspace.files(), LinkOption.NOFOLLOW_LINKS);
    if (!present.containsAll(owners)) {
      owners.addAll(present);
      Files.setPosixFilePermissions(workspace.files(), owners);
    }
  }

  /** Whose the environment's workspace is; empty when there is none. */
  Optional<Integer> owner(EnvironmentId environment) {
    Path files = workspace(environment, 0).files();
    try {
      return Optional.of((int) Files.getAttribute(files, "unix:uid", LinkOption.NOFOLLOW_LINKS));
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  /** Empties the workspace and the logs; whether nothing is left in them. */
  boolean wipe(Workspace workspace) {
    delete(workspace.files(), true);
    delete(workspace.logs(), true);
    return isEmpty(workspace.files()) && isEmpty(workspace.logs());
  }

  /** Deletes everything the environment has; whether nothing is left. */
  boolean remove(Workspace workspace) {
    delete(workspace.root(), false);
    return !Files.exists(workspace.root(), LinkOption.NOFOLLOW_LINKS);
  }

  private static boolean isEmpty(Path directory) {
    try (DirectoryStream<Path> content = Files.newDirectoryStream(directory)) {
      return !content.iterator().hasNext();
    } catch (NoSuchFileException e) {
      return true;
    } catch (IOException | DirectoryIteratorException e) {
      LOG.warn("{} cannot be looked into: {}", directory, e.toString());
      return false;
    }
  }

  private static void directory(Path path, String permissions) throws IOException {
    if (!Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
      Files.createDirectories(path);
    }
    Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(permissions));
  }

  /** A workspace that a weaker or stronger tier gave to somebody else changes hands as a whole. */
  private void give(Path files, int uid) throws IOException {
    int present = (int) Files.getAttribute(files, "unix:uid", LinkOption.NOFOLLOW_LINKS);
    if (present == uid) {
      return;
    }
    String owner = uid + ":" + uid;
    run(List.of(Tools.require("chown"), "-hR", owner, "--", files.toString()));
  }

  private void delete(Path path, boolean contentOnly) {
    if (!Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    String depth = contentOnly ? "1" : "0";
    List<String> find =
        List.of(Tools.require("find"), path.toString(), "-xdev", "-mindepth", depth);
    if (!run(append(find, "-delete"))) {
      // Directories that their owner made unreadable; for root there are none.
      run(append(find, "-type", "d", "!", "-perm", "-700", "-exec", "chmod", "u+rwx", "{}", ";"));
      run(append(find, "-delete"));
    }
  }

  private static List<String> append(List<String> command, String... more) {
    return java.util.stream.Stream.concat(command.stream(), java.util.Arrays.stream(more)).toList();
  }

  private boolean run(List<String> argv) {
    Child child = spawner.spawn(Spawn.of(argv).environment(java.util.Map.of("PATH", Tools.PATH)));
    ExitStatus status = child.exit().join();
    if (!status.equals(new ExitStatus.Exited(0))) {
      LOG.debug("{} of {}: {}", argv.getFirst(), argv.get(1), status);
      return false;
    }
    return true;
  }
}
