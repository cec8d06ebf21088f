package io.envapi.files;

import io.envapi.failure.Failure;
import io.envapi.linux.DataFile;
import io.envapi.linux.Directory;
import io.envapi.linux.Errno;
import io.envapi.linux.FileName;
import io.envapi.linux.LinuxException;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Unpacks an archive into a directory of its own at the top of the workspace. An entry that would
 * lead out of it, by its name or through a link, is refused, and so are devices.
 */
final class ArchiveUnpacking implements ArchiveReader.Visitor {

  static final int MOST_ENTRIES = 100_000;

  /** Beyond this size, unpacked bytes may be at most {@link #MOST_RATIO} times those packed. */
  private static final long FREE_BYTES = 64L << 20;

  private static final int MOST_RATIO = 200;
  private static final int PERMISSIONS = 0777;
  private static final int OWNERS = 0700;
  private static final int DIRECTORY_MODE = 0755;
  private static final int PIECE = 64 * 1024;

  private final WorkspaceRoot root;
  private final DiskMeter meter;
  private final long mostDisk;
  private final long packed;
  private final Directory into;
  private final byte[] piece = new byte[PIECE];
  private int entries;
  private long bytes;

  ArchiveUnpacking(
      WorkspaceRoot root, DiskMeter meter, long mostDisk, long packed, Directory into) {
    this.root = root;
    this.meter = meter;
    this.mostDisk = mostDisk;
    this.packed = packed;
    this.into = into;
  }

  int entries() {
    return entries;
  }

  long bytes() {
    return bytes;
  }

  @Override
  public void directory(ArchivePath name, int mode) {
    List<FileName> names = names(name);
    int before = entries;
    try (Directory made = descend(names)) {
      if (entries == before) {
        count();
      }
      if (!names.isEmpty()) {
        made.chmod((mode & PERMISSIONS) | OWNERS);
      }
    }
  }

  @Override
  public void file(ArchivePath name, int mode, InputStream content) throws IOException {
    count();
    try (Target target = target(name)) {
      long position = 0;
      for (int read = content.read(piece); read >= 0; read = content.read(piece)) {
        target.write(read, position);
        position += read;
      }
      target.finish(mode);
    }
  }

  @Override
  public void link(ArchivePath name, ArchivePath target) {
    count();
    List<FileName> names = entryNames(name);
    refuseOutside(names, target);
    try (Directory in = descend(names.subList(0, names.size() - 1))) {
      unlink(in, names.getLast());
      in.makeLink(names.getLast(), target.bytes(), root.uid(), root.gid());
    }
  }

  /** As a copy: a link would be one more file that two names change. */
  @Override
  public void hardLink(ArchivePath name, ArchivePath target) {
    count();
    try (DataFile source = into.openFile(entryNames(target));
        Target copy = target(name)) {
      long position = 0;
      for (int read = source.read(piece, 0, PIECE, 0);
          read > 0;
          read = source.read(piece, 0, PIECE, position)) {
        copy.write(read, position);
        position += read;
      }
      copy.finish(source.stat().mode());
    }
  }

  @Override
  public void other(ArchivePath name) {
    throw invalid("an entry is no file, directory or link");
  }

  /** A file on its way into the directory. */
  private final class Target implements AutoCloseable {
    private final DataFile file;

    Target(DataFile file) {
      this.file = file;
    }

    void write(int length, long position) {
      meter.reserve(length, mostDisk);
      file.write(piece, 0, length, position);
      meter.add(length);
      bytes += length;
      if (bytes > FREE_BYTES && bytes / MOST_RATIO > packed) {
        throw invalid("the archive unpacks to more than %d times its size".formatted(MOST_RATIO));
      }
    }

    void finish(int mode) {
      file.chown(root.uid(), root.gid());
      file.chmod(mode & PERMISSIONS);
    }

    @Override
    public void close() {
      file.close();
    }
  }

  private Target target(ArchivePath name) {
    List<FileName> names = entryNames(name);
    try (Directory in = descend(names.subList(0, names.size() - 1))) {
      // Of two entries of one name the later counts.
      unlink(in, names.getLast());
      return new Target(in.createFile(names.getLast()));
    }
  }

  private static void unlink(Directory in, FileName name) {
    try {
      in.unlink(name);
    } catch (LinuxException e) {
      if (!e.is(Errno.ENOENT)) {
        throw e;
      }
    }
  }

  private Directory descend(List<FileName> names) {
    try {
      return into.openDirectory(names);
    } catch (LinuxException e) {
      if (!e.is(Errno.ENOENT)) {
        throw e;
      }
    }
    Directory at = into.openDirectory(List.of());
    for (FileName name : names) {
      Directory next;
      try (Directory above = at) {
        next = below(above, name);
      }
      at = next;
    }
    return at;
  }

  private Directory below(Directory above, FileName name) {
    try {
      return above.openDirectory(name);
    } catch (LinuxException e) {
      if (!e.is(Errno.ENOENT)) {
        throw e;
      }
    }
    // Directories without an entry of their own count too: they take as much.
    count();
    above.makeDirectory(name, DIRECTORY_MODE);
    Directory made = above.openDirectory(name);
    try {
      made.chown(root.uid(), root.gid());
      made.chmod(DIRECTORY_MODE);
      return made;
    } catch (LinuxException e) {
      made.close();
      throw e;
    }
  }

  private void count() {
    if (++entries > MOST_ENTRIES) {
      throw invalid("the archive has more than " + MOST_ENTRIES + " entries");
    }
  }

  private static List<FileName> entryNames(ArchivePath name) {
    List<FileName> names = names(name);
    if (names.isEmpty()) {
      throw invalid("an entry has no name");
    }
    return names;
  }

  private static List<FileName> names(ArchivePath name) {
    if (name.isAbsolute() || name.hasNul()) {
      throw outside(name);
    }
    if (name.length() > WorkspacePath.LONGEST) {
      throw invalid("the name of an entry is too long");
    }
    List<FileName> names = new ArrayList<>();
    for (ArchivePath part : name.parts()) {
      if (part.is("..")) {
        throw outside(name);
      }
      if (FileName.isName(part.bytes())) {
        names.add(FileName.of(part.bytes()));
      }
    }
    return names;
  }

  /**
   * Takes a link's {@code ..} only at its beginning: there it goes up through directories that are
   * none but those. Behind a name it might go up from wherever another link leads.
   */
  private static void refuseOutside(List<FileName> link, ArchivePath target) {
    int up = 0;
    boolean named = false;
    for (ArchivePath part : target.parts()) {
      if (part.is("..")) {
        up++;
        if (named || up >= link.size()) {
          throw outside(target);
        }
      } else if (!part.isEmpty() && !part.is(".")) {
        named = true;
      }
    }
    if (target.isEmpty() || target.isAbsolute() || target.hasNul()) {
      throw outside(target);
    }
  }

  private static Refusal outside(ArchivePath name) {
    return Refusal.outside(SentPath.of(name.shown()));
  }

  static Refusal invalid(String message) {
    return new Refusal(new Failure.Invalid(List.of("body"), message));
  }

  /**
   * Unpacks an archive below a path: what is in it replaces files of the same name there, and
   * directories become one. All of it, or nothing. Runs under the tree's lock.
   */
  static TransferAnswer run(
      WorkspaceRoot root,
      DiskMeter meter,
      FileLimits limits,
      WorkspacePath path,
      ArchiveFormat format,
      WorkspaceRoot.Opened archive) {
    FileName name = TemporaryFile.newName();
    Directory top = root.directory();
    top.makeDirectory(name, OWNERS);
    try (Directory into = top.openDirectory(name)) {
      into.chown(root.uid(), root.gid());
      long packed = archive.stat().size();
      var unpacking = new ArchiveUnpacking(root, meter, limits.maxDiskBytes(), packed, into);
      try {
        ArchiveReader.read(format, archive.file(), packed, unpacking);
      } catch (IOException | IllegalArgumentException e) {
        throw invalid("the archive cannot be read");
      }
      into.chmod(DIRECTORY_MODE);
      new ArchiveMerge(root).run(into, name, path);
      return new TransferAnswer.Unpacked(path.shown(), unpacking.entries(), unpacking.bytes());
    } catch (LinuxException e) {
      throw Optional.of(e)
          .filter(each -> each.is(Errno.ENOTDIR) || each.is(Errno.EISDIR))
          .<RuntimeException>map(_ -> invalid("two entries of the archive contradict each other"))
          .orElseGet(() -> Refusal.of(e, path.sent()));
    } finally {
      remove(top, name);
      meter.forget();
    }
  }

  private static void remove(Directory top, FileName name) {
    try {
      TreeRemoval.remove(top, name);
    } catch (LinuxException e) {
      // It has become the target, or the next start removes it.
      return;
    }
  }
}
