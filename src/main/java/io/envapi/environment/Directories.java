package io.envapi.environment;

import io.envapi.failure.Failure;
import io.envapi.failure.Result;
import java.io.IOException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Where a shell may start. Links are followed, then the place must lie in the workspace. The answer
 * is relative, and is resolved once more by the shell itself with its own rights, so that a link
 * swapped in meanwhile leads nowhere the shell could not go by itself.
 */
final class Directories {

  /** The workspace as shells see it where they do not see the host's path. */
  private static final Path INSIDE = Path.of("/workspace");

  private Directories() {}

  /**
   * @param cwd as the caller wrote it
   */
  static Result<String> resolve(Path workspace, String cwd) {
    try {
      if (!workspace.resolve(inside(workspace, Path.of(cwd))).normalize().startsWith(workspace)) {
        return Result.refused(new Failure.PathOutsideWorkspace(cwd));
      }
      Optional<Path> real = new Walk(workspace).from(Path.of(cwd));
      if (real.isEmpty()) {
        return Result.refused(new Failure.PathOutsideWorkspace(cwd));
      }
      String relative = workspace.relativize(real.get()).toString();
      return Result.ok(relative.isEmpty() ? "." : relative);
    } catch (InvalidPathException e) {
      return Result.refused(new Failure.PathOutsideWorkspace(cwd.replace("\0", "\\0")));
    } catch (IOException e) {
      return Result.refused(new Failure.InvalidCwd(cwd));
    }
  }

  private static Path inside(Path workspace, Path asked) {
    return asked.startsWith(INSIDE) ? workspace.resolve(INSIDE.relativize(asked)) : asked;
  }

  /**
   * Goes name by name as the kernel does (path_resolution(7)), but never above the workspace, and
   * takes the absolute paths of links for what they are to a shell.
   */
  private static final class Walk {

    private static final int MOST_LINKS = 40;

    private final Path workspace;
    private final Deque<Path> names = new ArrayDeque<>();
    private Path at;
    private int links;

    Walk(Path workspace) {
      this.workspace = workspace;
      this.at = workspace;
    }

    /** Empty when it leads out of the workspace. */
    Optional<Path> from(Path asked) throws IOException {
      if (!enter(asked)) {
        return Optional.empty();
      }
      while (!names.isEmpty()) {
        if (!step(names.pop().toString())) {
          return Optional.empty();
        }
      }
      return Optional.of(at);
    }

    private boolean step(String name) throws IOException {
      if (name.equals("..")) {
        if (at.equals(workspace)) {
          return false;
        }
        at = Optional.ofNullable(at.getParent()).orElse(workspace);
        return true;
      }
      if (name.isEmpty() || name.equals(".")) {
        return true;
      }
      Path next = at.resolve(name);
      BasicFileAttributes found =
          Files.readAttributes(next, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
      if (found.isSymbolicLink()) {
        if (++links > MOST_LINKS) {
          throw new FileSystemLoopException(name);
        }
        return enter(Files.readSymbolicLink(next));
      }
      if (!found.isDirectory()) {
        throw new NotDirectoryException(name);
      }
      at = next;
      return true;
    }

    /** Puts the names of a path in front of those that are left. */
    private boolean enter(Path path) {
      Path relative = path;
      if (path.isAbsolute()) {
        Optional<Path> root = Stream.of(INSIDE, workspace).filter(path::startsWith).findFirst();
        if (root.isEmpty()) {
          return false;
        }
        at = workspace;
        int above = root.get().getNameCount();
        relative =
            above == path.getNameCount() ? Path.of(".") : path.subpath(above, path.getNameCount());
      }
      for (int i = relative.getNameCount() - 1; i >= 0; i--) {
        names.push(relative.getName(i));
      }
      return true;
    }
  }
}
