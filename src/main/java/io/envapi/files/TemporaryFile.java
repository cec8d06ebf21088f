package io.envapi.files;

import io.envapi.linux.DataFile;
import io.envapi.linux.Directory;
import io.envapi.linux.Errno;
import io.envapi.linux.FileName;
import io.envapi.linux.LinuxException;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.regex.Pattern;

/**
 * Content on its way to a name: written beside it, on the disk before it is renamed, gone when that
 * does not happen. A crash can leave one behind; its name tells.
 */
final class TemporaryFile implements AutoCloseable {

  private static final SecureRandom RANDOM = new SecureRandom();
  private static final int RANDOM_BYTES = 16;
  private static final Pattern NAME = Pattern.compile("\\.envapi-[0-9a-f]{32}\\.tmp");

  private final Directory directory;
  private final FileName name;
  private final DataFile file;
  private boolean published;

  private TemporaryFile(Directory directory, FileName name, DataFile file) {
    this.directory = directory;
    this.name = name;
    this.file = file;
  }

  /** A name that nothing has, and that tells what it is when a crash leaves it behind. */
  static FileName newName() {
    byte[] random = new byte[RANDOM_BYTES];
    RANDOM.nextBytes(random);
    return FileName.of(".envapi-" + HexFormat.of().formatHex(random) + ".tmp");
  }

  static TemporaryFile create(Directory directory) {
    FileName name = newName();
    return new TemporaryFile(directory, name, directory.createFile(name));
  }

  /** Whether a file of this name is one of these, left by a crash. */
  static boolean isDebris(FileName name) {
    return NAME.matcher(new String(name.bytes(), StandardCharsets.ISO_8859_1)).matches();
  }

  FileName name() {
    return name;
  }

  /** Whatever has its name now is no longer this. */
  void handOver() {
    published = true;
  }

  DataFile file() {
    return file;
  }

  /** As {@link #finish}, with all of the content. */
  void fill(byte[] content, int uid, int gid, int mode) {
    file.write(content, 0, content.length, 0);
    finish(uid, gid, mode);
  }

  /** Gives the file its owner and permissions, and has it on the disk. */
  void finish(int uid, int gid, int mode) {
    var stat = file.stat();
    if (stat.uid() != uid || stat.gid() != gid) {
      file.chown(uid, gid);
    }
    file.chmod(mode);
    file.sync();
  }

  /** Takes the place of whatever {@code target} is, if {@code replace}; else it must be new. */
  void publish(FileName target, boolean replace) {
    publish(directory, target, replace);
  }

  /** As {@link #publish(FileName, boolean)}, in another directory. */
  void publish(Directory to, FileName target, boolean replace) {
    if (replace) {
      directory.rename(name, to, target);
    } else {
      renameNew(directory, name, to, target);
    }
    published = true;
    to.sync();
  }

  /** As {@code RENAME_NOREPLACE}, with a look first on file systems that lack it. */
  static void renameNew(Directory from, FileName name, Directory to, FileName target) {
    try {
      from.renameNew(name, to, target);
    } catch (LinuxException e) {
      if (!e.is(Errno.EINVAL)) {
        throw e;
      }
      try {
        to.stat(target);
      } catch (LinuxException absent) {
        from.rename(name, to, target);
        return;
      }
      throw Refusal.conflict("the destination exists");
    }
  }

  @Override
  public void close() {
    file.close();
    if (!published) {
      try {
        directory.unlink(name);
      } catch (LinuxException e) {
        // Somebody in the workspace was faster, or the next start removes it.
        return;
      }
    }
  }
}
