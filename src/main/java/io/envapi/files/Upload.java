package io.envapi.files;

import io.envapi.failure.Failure;
import io.envapi.linux.FileKind;
import io.envapi.linux.FileStat;
import io.envapi.linux.LinuxException;
import java.security.MessageDigest;
import java.util.Optional;

/**
 * A file that arrives in pieces. It is stored at the top of the workspace, weighed piece by piece,
 * and takes its place when all of it is there; until then its place is as it was, without so much
 * as a directory made.
 */
final class Upload implements OpenTransfer {

  private static final int NEW_MODE = 0644;
  private static final int PERMISSIONS = 0777;

  private final WorkspaceRoot root;
  private final DiskMeter meter;
  private final TransferStep.OpenWrite sent;
  private final WorkspacePath path;
  private final TemporaryFile temporary;
  private final long most;
  private final MessageDigest digest = ContentScan.sha256();
  private long size;
  private boolean stored;
  private Optional<ArchiveFormat> archive = Optional.empty();

  private Upload(
      WorkspaceRoot root,
      DiskMeter meter,
      TransferStep.OpenWrite sent,
      WorkspacePath path,
      long most) {
    this.root = root;
    this.meter = meter;
    this.sent = sent;
    this.path = path;
    this.most = most;
    this.temporary = TemporaryFile.create(root.directory());
  }

  /** Refuses at once what can be refused before the first byte. */
  static Upload open(
      WorkspaceRoot root, DiskMeter meter, TransferStep.OpenWrite sent, FileLimits limits) {
    WorkspacePath path = root.path(sent.path(), "query", "path");
    Optional<FileStat> old = check(root, path, sent);
    long freed = old.map(DiskMeter::freedBy).orElse(0L);
    sent.length().ifPresent(length -> meter.reserve(length - freed, limits.maxDiskBytes()));
    // What is there is given back only when this takes its place.
    return new Upload(root, meter, sent, path, limits.maxDiskBytes() + freed);
  }

  /** For an archive that is only stored to be unpacked. */
  static Upload spool(
      WorkspaceRoot root, DiskMeter meter, TransferStep.OpenUnpack sent, FileLimits limits) {
    WorkspacePath path = root.path(sent.path(), "query", "path");
    boolean free = path.isRoot() || root.find(path).isEmpty();
    if (!free && root.require(path).kind() != FileKind.DIRECTORY) {
      throw Refusal.conflict("the path is no directory");
    }
    sent.length().ifPresent(length -> meter.reserve(length, limits.maxDiskBytes()));
    var write =
        new TransferStep.OpenWrite(sent.path(), IfMatch.none(), IfMatch.none(), sent.length());
    Upload upload = new Upload(root, meter, write, path, limits.maxDiskBytes());
    upload.archive = Optional.of(sent.format());
    return upload;
  }

  private static Optional<FileStat> check(
      WorkspaceRoot root, WorkspacePath path, TransferStep.OpenWrite sent) {
    Optional<FileStat> old = path.isRoot() ? Optional.of(root.directory().stat()) : root.find(path);
    if (old.isEmpty()) {
      sent.ifMatch().check(Optional.empty());
      return old;
    }
    if (old.get().kind() == FileKind.DIRECTORY) {
      throw Refusal.invalid("the path is a directory", "query", "path");
    }
    if (!root.mayRead(old.get())) {
      throw Refusal.conflict("the path is no regular file of the workspace");
    }
    if (sent.ifMatch().given() || sent.ifNoneMatch().given()) {
      try (WorkspaceRoot.Opened opened = root.open(path)) {
        ContentTag.check(sent.ifMatch(), opened);
        ContentTag.checkNone(sent.ifNoneMatch(), opened);
      }
    }
    return old;
  }

  synchronized TransferAnswer append(TransferStep.Append more) {
    if (stored || more.offset() != size || more.bytes().length() > FileBytes.MOST) {
      throw Refusal.conflict("the pieces of the transfer are out of order");
    }
    byte[] bytes = more.bytes().array();
    if (sent.length().isPresent() && size + bytes.length > sent.length().get()) {
      throw Refusal.conflict("the transfer is longer than announced");
    }
    meter.reserve(bytes.length, most);
    temporary.file().write(bytes, 0, bytes.length, size);
    digest.update(bytes);
    size += bytes.length;
    meter.add(bytes.length);
    return new TransferAnswer.Appended(size);
  }

  /** To be called under the tree's lock. */
  synchronized TransferAnswer commit() {
    refuseShort();
    if (archive.isPresent()) {
      throw Refusal.conflict("the transfer is of an archive");
    }
    Optional<FileStat> old = check(root, path, sent);
    int uid = old.map(FileStat::uid).orElse(root.uid());
    int gid = old.map(FileStat::gid).orElse(root.gid());
    temporary.finish(uid, gid, old.map(FileStat::mode).orElse(NEW_MODE) & PERMISSIONS);
    try (ParentDirectory parent = ParentDirectory.open(root, path.parent(), path.sent())) {
      boolean replace = !(sent.ifNoneMatch().given() && sent.ifNoneMatch().any());
      temporary.publish(parent.directory(), path.name(), replace);
      parent.keep();
    } catch (LinuxException e) {
      throw Refusal.of(e, path.sent());
    }
    stored = true;
    meter.add(-old.map(DiskMeter::freedBy).orElse(0L));
    return new TransferAnswer.Stored(path.shown(), size, ContentScan.quoted(digest), old.isEmpty());
  }

  /** To be called under the tree's lock. */
  synchronized TransferAnswer unpack(FileLimits limits) {
    ArchiveFormat format =
        archive.orElseThrow(() -> Refusal.conflict("the transfer is of no archive"));
    refuseShort();
    var content = new WorkspaceRoot.Opened(temporary.file(), temporary.file().stat());
    return ArchiveUnpacking.run(root, meter, limits, path, format, content);
  }

  private void refuseShort() {
    if (sent.length().isPresent() && size != sent.length().get()) {
      throw Refusal.conflict("the transfer is shorter than announced");
    }
  }

  @Override
  public SentPath path() {
    return sent.path();
  }

  @Override
  public synchronized TransferAnswer read(TransferStep.Read read) {
    throw new Refusal(new Failure.Conflict("the transfer goes the other way"));
  }

  @Override
  public synchronized void close() {
    temporary.close();
    if (!stored) {
      meter.add(-size);
      stored = true;
    }
  }
}
