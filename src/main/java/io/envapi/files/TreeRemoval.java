package io.envapi.files;

import io.envapi.linux.Directory;
import io.envapi.linux.DirectoryEntry;
import io.envapi.linux.Errno;
import io.envapi.linux.FileName;
import io.envapi.linux.LinuxException;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Removes trees of any depth and size by descriptors. A link goes, what it leads to stays; another
 * mount stays. Directories without permissions are given some, where the service may.
 */
public final class TreeRemoval {

  /** Processes may move and add things meanwhile; against those that never stop there is an end. */
  private static final int PASSES = 16;

  private TreeRemoval() {}

  /**
   * Removes one of the service's own directories and everything beneath it; nothing to do when
   * there is none.
   *
   * @throws LinuxException when something could not be removed
   */
  public static void deleteTree(Path directory) {
    Path absolute = directory.toAbsolutePath();
    try (Directory in = Directory.open(parentOf(absolute))) {
      if (!remove(in, FileName.of(absolute.getFileName().toString()))) {
        throw new IllegalStateException("processes keep changing a tree that is to be removed");
      }
    } catch (LinuxException e) {
      if (!e.is(Errno.ENOENT)) {
        throw e;
      }
    }
  }

  /**
   * Removes everything beneath one of the service's own directories, which stays; nothing to do
   * when there is none.
   *
   * @throws LinuxException when something could not be removed
   */
  public static void emptyTree(Path directory) {
    try (Directory opened = Directory.open(directory)) {
      if (!empty(opened)) {
        throw new IllegalStateException("processes keep changing a tree that is to be emptied");
      }
    } catch (LinuxException e) {
      if (!e.is(Errno.ENOENT)) {
        throw e;
      }
    }
  }

  /**
   * Removes everything beneath a directory, which stays.
   *
   * @return false when processes in it kept changing it
   * @throws LinuxException when something could not be removed
   */
  static boolean empty(Directory directory) {
    for (int pass = 1; ; pass++) {
      Removal removal = new Removal();
      removal.open(directory);
      boolean whole = new TreeWalk(directory, removal).run();
      Optional<LinuxException> failure = removal.failure();
      if (whole && failure.isEmpty()) {
        return true;
      }
      if (pass == PASSES) {
        failure.ifPresent(
            e -> {
              throw e;
            });
        return false;
      }
    }
  }

  /** As {@link #empty}, for a directory by its name in another, which goes too. */
  static boolean remove(Directory in, FileName name) {
    for (int pass = 1; pass <= PASSES; pass++) {
      try (Directory directory = in.openDirectoryAnyway(name)) {
        if (!empty(directory)) {
          return false;
        }
      }
      try {
        in.removeDirectory(name);
        return true;
      } catch (LinuxException e) {
        if (!e.is(Errno.ENOTEMPTY)) {
          throw e;
        }
      }
    }
    return false;
  }

  private static Path parentOf(Path absolute) {
    Path parent = absolute.getParent();
    if (parent == null) {
      throw new IllegalArgumentException("the root of the file system");
    }
    return parent;
  }

  private static final class Removal implements TreeWalk.Visitor {

    private static final int ALL = 0700;

    private @Nullable LinuxException failure;

    Optional<LinuxException> failure() {
      return Optional.ofNullable(failure);
    }

    @Override
    public Directory enter(Directory in, FileName name) {
      Directory entered = in.openDirectoryAnyway(name);
      open(entered);
      return entered;
    }

    /** Lets the owner look into it and change it. */
    void open(Directory directory) {
      try {
        if ((directory.stat().mode() & ALL) != ALL) {
          directory.chmod(ALL);
        }
      } catch (LinuxException e) {
        note(e);
      }
    }

    @Override
    public void unavailable(LinuxException why) {
      note(why);
    }

    @Override
    public void file(Directory in, DirectoryEntry entry) {
      try {
        in.unlink(entry.name());
      } catch (LinuxException e) {
        note(e);
      }
    }

    @Override
    public void left(Directory in, FileName name) {
      try {
        in.removeDirectory(name);
      } catch (LinuxException e) {
        note(e);
      }
    }

    private void note(LinuxException e) {
      if (!e.is(Errno.ENOENT) && failure == null) {
        failure = e;
      }
    }
  }
}
