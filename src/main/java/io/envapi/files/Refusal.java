package io.envapi.files;

import io.envapi.failure.Failure;
import io.envapi.linux.Errno;
import io.envapi.linux.LinuxException;

/**
 * An expected failure on its way out of nested descriptors; {@link FileTree} turns it into a {@code
 * Result}, so that it never leaves this package.
 */
final class Refusal extends RuntimeException {

  private final Failure failure;

  Refusal(Failure failure) {
    super(failure.getClass().getSimpleName(), null, false, false);
    this.failure = failure;
  }

  Failure failure() {
    return failure;
  }

  static Refusal missing(SentPath path) {
    return new Refusal(new Failure.NotFound(Failure.Kind.FILE, path.text()));
  }

  static Refusal outside(SentPath path) {
    return new Refusal(new Failure.PathOutsideWorkspace(path.text()));
  }

  static Refusal changed() {
    return new Refusal(new Failure.FileChanged());
  }

  static Refusal conflict(String message) {
    return new Refusal(new Failure.Conflict(message));
  }

  static Refusal invalid(String message, String... location) {
    return new Refusal(Failure.invalid(message, location));
  }

  /** What a failed call on {@code path} means to the caller; a bug when it can mean nothing. */
  static RuntimeException of(LinuxException e, SentPath path) {
    return switch (e.errno()) {
      case Errno.ELOOP, Errno.EXDEV -> outside(path);
      case Errno.ENOENT, Errno.ENXIO -> missing(path);
      case Errno.ENOTDIR -> conflict("a parent of the path is not a directory");
      case Errno.ENAMETOOLONG -> invalid("a name in the path is too long", "path");
      case Errno.EISDIR -> invalid("the path is a directory", "path");
      case Errno.EEXIST, Errno.ENOTEMPTY -> conflict("the path exists already");
      case Errno.EACCES, Errno.EPERM, Errno.EROFS ->
          conflict("the permissions of the workspace do not allow it");
      case Errno.EBUSY, Errno.EAGAIN -> conflict("the path is being changed or is in use");
      case Errno.ENOSPC, Errno.EDQUOT -> new Refusal(new Failure.StorageFull());
      default -> e;
    };
  }
}
