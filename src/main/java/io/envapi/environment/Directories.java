package io.envapi.environment;

import io.envapi.failure.Failure;
import io.envapi.failure.Result;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;

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
      Path root = workspace.toRealPath();
      Path asked = inside(workspace, Path.of(cwd));
      Path lexical = workspace.resolve(asked).normalize();
      if (!lexical.startsWith(workspace)) {
        return Result.refused(new Failure.PathOutsideWorkspace(cwd));
      }
      if (!Files.exists(lexical)) {
        return Result.refused(new Failure.InvalidCwd(cwd));
      }
      Path real = workspace.resolve(asked).toRealPath();
      if (!real.startsWith(root)) {
        return Result.refused(new Failure.PathOutsideWorkspace(cwd));
      }
      if (!Files.isDirectory(real)) {
        return Result.refused(new Failure.InvalidCwd(cwd));
      }
      String relative = root.relativize(real).toString();
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
}
