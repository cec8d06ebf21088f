package io.envapi.files;

import io.envapi.failure.Failure;
import io.envapi.failure.Result;
import io.envapi.linux.DataFile;
import io.envapi.linux.Directory;
import io.envapi.linux.Errno;
import io.envapi.linux.FileKind;
import io.envapi.linux.FileName;
import io.envapi.linux.FileStat;
import io.envapi.linux.LinuxException;
import java.util.List;
import java.util.Optional;

/**
 * The held descriptor of a workspace, and the rules by which anything in it is reached.
 *
 * @param uid who owns what is made here, with {@code gid}
 * @param inside absolute paths that mean this root
 */
record WorkspaceRoot(Directory directory, int uid, int gid, List<String> inside) {

  /** A regular file that may be read, and what it was when it was opened. */
  record Opened(DataFile file, FileStat stat) implements AutoCloseable {
    @Override
    public void close() {
      file.close();
    }
  }

  /** Reads the path and refuses it when its text goes through a link. */
  WorkspacePath path(SentPath sent, String... location) {
    WorkspacePath path =
        switch (WorkspacePath.parse(sent, inside, location)) {
          case Result.Ok<WorkspacePath>(var value) -> value;
          case Result.Refused<WorkspacePath>(Failure failure) -> throw new Refusal(failure);
        };
    path.crossed().forEach(names -> refuseLinks(names, sent));
    return path;
  }

  private void refuseLinks(List<FileName> names, SentPath sent) {
    try {
      directory.stat(names);
    } catch (LinuxException e) {
      // That nothing is there, or no directory, is fine: a .. takes it back.
      if (e.is(Errno.ELOOP) || e.is(Errno.EXDEV)) {
        throw Refusal.outside(sent);
      }
    }
  }

  /** What is there; empty when nothing is. */
  Optional<FileStat> find(WorkspacePath path) {
    try {
      return Optional.of(directory.stat(path.names()));
    } catch (LinuxException e) {
      if (e.is(Errno.ENOENT)) {
        return Optional.empty();
      }
      throw Refusal.of(e, path.sent());
    }
  }

  FileStat require(WorkspacePath path) {
    try {
      return directory.stat(path.names());
    } catch (LinuxException e) {
      throw missingOr(e, path);
    }
  }

  /** Opens a regular file for reading; anything else is not there. */
  Opened open(WorkspacePath path) {
    if (!mayRead(require(path))) {
      throw Refusal.missing(path.sent());
    }
    try {
      return opened(directory.openFile(path.names()))
          .orElseThrow(() -> Refusal.missing(path.sent()));
    } catch (LinuxException e) {
      throw missingOr(e, path);
    }
  }

  /** As {@link #open}; what is not there is first of all not what {@code ifMatch} says. */
  Opened open(WorkspacePath path, IfMatch ifMatch) {
    try {
      return open(path);
    } catch (Refusal e) {
      if (e.failure() instanceof Failure.NotFound) {
        ifMatch.check(Optional.empty());
      }
      throw e;
    }
  }

  /** As {@link #open}, for a name found in a directory; empty when it may not be read. */
  Optional<Opened> open(Directory in, FileName name) {
    return opened(in.openFile(List.of(name)));
  }

  private Optional<Opened> opened(DataFile file) {
    try {
      FileStat stat = file.stat();
      if (mayRead(stat)) {
        return Optional.of(new Opened(file, stat));
      }
      file.close();
      return Optional.empty();
    } catch (LinuxException e) {
      file.close();
      throw e;
    }
  }

  /** A hard link can lead to a file that is not the workspace's; its owner tells. */
  boolean mayRead(FileStat stat) {
    return stat.kind() == FileKind.REGULAR && (stat.links() <= 1 || stat.uid() == uid);
  }

  Directory openDirectory(WorkspacePath path) {
    try {
      return directory.openDirectory(path.names());
    } catch (LinuxException e) {
      throw missingOr(e, path);
    }
  }

  private static RuntimeException missingOr(LinuxException e, WorkspacePath path) {
    return switch (e.errno()) {
      case Errno.ENOTDIR, Errno.ENAMETOOLONG -> Refusal.missing(path.sent());
      default -> Refusal.of(e, path.sent());
    };
  }
}
