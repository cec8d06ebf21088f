package io.envapi.linux;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/**
 * An open directory, and what can be done to the names in it and beneath it. Names are resolved
 * beneath it without following links and without leaving its mount; a name that does answers {@code
 * ELOOP} or {@code EXDEV}. Every call but {@link #close} may run in any number of threads.
 *
 * <p>All failures are a {@link LinuxException}.
 */
public final class Directory implements AutoCloseable {

  private static final byte[] ITSELF = {'.'};
  private static final byte[] PARENT = {'.', '.'};
  private static final int LINK_LIMIT = 4096;
  private static final int NEW_FILE_MODE = 0600;

  private final FileDescriptor descriptor;

  private Directory(FileDescriptor descriptor) {
    this.descriptor = descriptor;
  }

  /** Opens one of the service's own directories; links above it are followed. */
  public static Directory open(Path host) {
    byte[] path = host.toString().getBytes(StandardCharsets.UTF_8);
    int flags = OpenHow.O_DIRECTORY | OpenHow.O_NOFOLLOW;
    return new Directory(FileCalls.openat(FileCalls.AT_FDCWD, path, flags, 0));
  }

  /** For the calls of this package. */
  FileDescriptor descriptor() {
    return descriptor;
  }

  /** The directory {@code names} lead to; another handle of this one when there are none. */
  public Directory openDirectory(List<FileName> names) {
    return new Directory(OpenHow.beneath(descriptor, names, OpenHow.O_DIRECTORY));
  }

  public Directory openDirectory(FileName name) {
    return openDirectory(List.of(name));
  }

  /** As {@link #openDirectory}, giving its owner access to it first when there was none. */
  public Directory openDirectoryAnyway(FileName name) {
    try {
      return openDirectory(name);
    } catch (LinuxException e) {
      if (!e.is(Errno.EACCES)) {
        throw e;
      }
    }
    int flags = OpenHow.O_PATH | OpenHow.O_DIRECTORY;
    try (FileDescriptor held = OpenHow.beneath(descriptor, List.of(name), flags)) {
      FileCalls.chmodHeld(held, 0700);
      return new Directory(FileCalls.openat(held.number(), ITSELF, OpenHow.O_DIRECTORY, 0));
    }
  }

  /** The directory this one is in now. The caller checks that it is the one it came from. */
  public Directory openParent() {
    int flags = OpenHow.O_DIRECTORY | OpenHow.O_NOFOLLOW;
    return new Directory(FileCalls.openat(descriptor.number(), PARENT, flags, 0));
  }

  /** What {@code names} lead to, without opening it for anything; needs no right to read it. */
  public FileStat stat(List<FileName> names) {
    try (FileDescriptor held = OpenHow.beneath(descriptor, names, OpenHow.O_PATH)) {
      return FileCalls.stat(held);
    }
  }

  /** What the name itself is; a link is not followed. */
  public FileStat stat(FileName name) {
    return FileCalls.stat(descriptor, name.raw());
  }

  public FileStat stat() {
    return FileCalls.stat(descriptor);
  }

  /**
   * Opens a file for reading, without waiting for whatever it may be. The caller checks that it is
   * a regular one.
   */
  public DataFile openFile(List<FileName> names) {
    int flags = OpenHow.O_RDONLY | OpenHow.O_NONBLOCK | OpenHow.O_NOCTTY;
    return new DataFile(OpenHow.beneath(descriptor, names, flags));
  }

  /** Makes a file for writing that only its owner can open; {@code EEXIST} when there is one. */
  public DataFile createFile(FileName name) {
    int flags = OpenHow.O_RDWR | OpenHow.O_CREAT | OpenHow.O_EXCL | OpenHow.O_NOFOLLOW;
    return new DataFile(FileCalls.openat(descriptor.number(), name.raw(), flags, NEW_FILE_MODE));
  }

  public void makeDirectory(FileName name, int mode) {
    FileCalls.mkdirat(descriptor, name.raw(), mode);
  }

  /** Makes a symbolic link with the text {@code target}, which is not looked at. */
  public void makeLink(FileName name, byte[] target, int uid, int gid) {
    FileCalls.symlinkat(target, descriptor, name.raw());
    FileCalls.chownLink(descriptor, name.raw(), uid, gid);
  }

  /** Removes a name that is no directory; a link goes, what it leads to stays. */
  public void unlink(FileName name) {
    FileCalls.unlinkat(descriptor, name.raw(), 0);
  }

  public void removeDirectory(FileName name) {
    FileCalls.unlinkat(descriptor, name.raw(), FileCalls.AT_REMOVEDIR);
  }

  /** Renames, replacing what {@code target} was. */
  public void rename(FileName name, Directory to, FileName target) {
    FileCalls.renameat2(descriptor, name.raw(), to.descriptor, target.raw(), 0);
  }

  /** Renames; {@code EEXIST} when there is such a name already. */
  public void renameNew(FileName name, Directory to, FileName target) {
    FileCalls.renameat2(
        descriptor, name.raw(), to.descriptor, target.raw(), FileCalls.RENAME_NOREPLACE);
  }

  /** Exchanges two names, whatever they are, in one step. */
  public void exchange(FileName name, Directory with, FileName other) {
    FileCalls.renameat2(
        descriptor, name.raw(), with.descriptor, other.raw(), FileCalls.RENAME_EXCHANGE);
  }

  /** The text of a link, its first 4096 bytes. */
  public byte[] readLink(FileName name) {
    return FileCalls.readlinkat(descriptor, name.raw(), LINK_LIMIT);
  }

  /** The entries from the first on, through a handle of its own. */
  public DirectoryReader entries() {
    return new DirectoryReader(
        FileCalls.openat(descriptor.number(), ITSELF, OpenHow.O_DIRECTORY, 0));
  }

  public void chown(int uid, int gid) {
    FileCalls.fchown(descriptor, uid, gid);
  }

  public void chmod(int mode) {
    FileCalls.fchmod(descriptor, mode);
  }

  /** Its entries are on the disk when this returns. */
  public void sync() {
    FileCalls.fsync(descriptor);
  }

  @Override
  public void close() {
    descriptor.close();
  }
}
