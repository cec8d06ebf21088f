package io.envapi.files;

import io.envapi.linux.Directory;
import io.envapi.linux.DirectoryEntry;
import io.envapi.linux.FileName;
import io.envapi.linux.LinuxException;

/** Removes what a crash in the middle of a change left in a workspace. */
final class Debris implements TreeWalk.Visitor {

  @Override
  public void file(Directory in, DirectoryEntry entry) {
    if (TemporaryFile.isDebris(entry.name())) {
      try {
        in.unlink(entry.name());
      } catch (LinuxException e) {
        // Not ours to remove, or gone: it does no harm where it is.
        return;
      }
    }
  }

  @Override
  public void left(Directory in, FileName name) {
    if (TemporaryFile.isDebris(name)) {
      try {
        TreeRemoval.remove(in, name);
      } catch (LinuxException e) {
        return;
      }
    }
  }
}
