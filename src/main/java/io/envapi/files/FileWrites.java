package io.envapi.files;

import io.envapi.failure.Failure;
import io.envapi.linux.FileKind;
import io.envapi.linux.FileStat;
import io.envapi.linux.LinuxException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Optional;

/**
 * The changes that give a file new content. Each weighs what it adds first, writes beside the
 * target, and renames. Runs under the tree's lock.
 */
final class FileWrites {

  private static final int NEW_MODE = 0644;

  /** Never kept: setuid, setgid, sticky. */
  private static final int PERMISSIONS = 0777;

  private final WorkspaceRoot root;
  private final DiskMeter meter;

  FileWrites(WorkspaceRoot root, DiskMeter meter) {
    this.root = root;
    this.meter = meter;
  }

  FileAnswer write(FileOperation.WriteFile operation, FileLimits limits) {
    WorkspacePath path = root.path(operation.path(), "body", "path");
    byte[] content = content(operation, limits);
    Optional<FileStat> old = target(path);
    checkTag(path, old, operation.ifMatch());
    if (operation.mode() == FileOperation.WriteMode.APPEND && old.isPresent()) {
      content = appended(path, content, limits);
    }
    return mutated(path, content, put(path, old, content, limits), "", List.of(), List.of());
  }

  FileAnswer edit(FileOperation.EditFile operation, FileLimits limits) {
    WorkspacePath path = root.path(operation.path(), "body", "path");
    if (operation.oldString().isEmpty()) {
      throw Refusal.invalid("old_string is empty", "body", "old_string");
    }
    bytes(operation.oldString(), "old_string");
    bytes(operation.newString(), "new_string");
    Text text = text(path, operation.ifMatch(), limits);
    TextChange change = TextEdit.of(text.lines(), operation.oldString(), operation.newString());
    return change(path, text, List.of(change), List.of(), List.of(), limits);
  }

  FileAnswer patch(FileOperation.PatchFile operation, FileLimits limits) {
    WorkspacePath path = root.path(operation.path(), "body", "path");
    bytes(operation.patch(), "patch");
    UnifiedPatch patch = UnifiedPatch.parse(operation.patch());
    Text text = text(path, operation.ifMatch(), limits);
    UnifiedPatch.Applied applied = patch.apply(text.lines());
    return change(path, text, applied.changes(), applied.applied(), applied.rejected(), limits);
  }

  FileAnswer copy(FileOperation.CopyFile operation, FileLimits limits) {
    WorkspacePath source = root.path(operation.source(), "body", "source");
    WorkspacePath target = root.path(operation.destination(), "body", "destination");
    byte[] content;
    int mode;
    try (WorkspaceRoot.Opened opened = root.open(source)) {
      content = ContentScan.readAll(opened.file(), limits.maxWriteBytes());
      mode = opened.stat().mode() & PERMISSIONS;
    }
    operation.ifMatch().check(Optional.of(ContentScan.etag(content)));
    if (root.find(target).isPresent()) {
      throw Refusal.conflict("the destination exists");
    }
    meter.reserve(content.length, limits.maxDiskBytes());
    publish(target, content, root.uid(), root.gid(), mode, false);
    meter.add(content.length);
    return mutated(target, content, ContentScan.etag(content), "", List.of(), List.of());
  }

  private record Text(FileStat stat, TextLines lines) {}

  private Text text(WorkspacePath path, IfMatch ifMatch, FileLimits limits) {
    Optional<FileStat> old = root.find(path);
    if (old.isEmpty()) {
      ifMatch.check(Optional.empty());
    } else if (old.get().kind() == FileKind.DIRECTORY) {
      throw Refusal.invalid("the path is a directory", "body", "path");
    }
    try (WorkspaceRoot.Opened opened = root.open(path)) {
      byte[] bytes = ContentScan.readAll(opened.file(), limits.maxWriteBytes());
      ifMatch.check(Optional.of(ContentScan.etag(bytes)));
      if (!new Utf8Scan().accept(bytes, 0, bytes.length).isText()) {
        throw new Refusal(new Failure.Binary());
      }
      String text = new String(bytes, StandardCharsets.UTF_8);
      return new Text(opened.stat(), new TextLines(text));
    }
  }

  private FileAnswer change(
      WorkspacePath path,
      Text text,
      List<TextChange> changes,
      List<Integer> applied,
      List<Integer> rejected,
      FileLimits limits) {
    String after = TextChange.apply(text.lines(), changes);
    byte[] content = after.getBytes(StandardCharsets.UTF_8);
    refuseOver(content.length, limits);
    String etag =
        after.equals(text.lines().text())
            ? ContentScan.etag(content)
            : put(path, Optional.of(text.stat()), content, limits);
    String diff = TextChange.diff(path.shown(), text.lines(), changes);
    return mutated(path, content, etag, diff, applied, rejected);
  }

  private static FileAnswer mutated(
      WorkspacePath path,
      byte[] content,
      String etag,
      String diff,
      List<Integer> applied,
      List<Integer> rejected) {
    return new FileAnswer.Mutated(path.shown(), content.length, etag, diff, applied, rejected);
  }

  /** What a write would replace; refused unless that is a regular file of the workspace. */
  private Optional<FileStat> target(WorkspacePath path) {
    if (path.isRoot()) {
      throw Refusal.invalid("the path is a directory", "body", "path");
    }
    Optional<FileStat> old = root.find(path);
    old.ifPresent(
        stat -> {
          if (stat.kind() == FileKind.DIRECTORY) {
            throw Refusal.invalid("the path is a directory", "body", "path");
          }
          if (!root.mayRead(stat)) {
            throw Refusal.conflict("the path is no regular file of the workspace");
          }
        });
    return old;
  }

  private void checkTag(WorkspacePath path, Optional<FileStat> old, IfMatch ifMatch) {
    if (!ifMatch.given() || ifMatch.any() || old.isEmpty()) {
      ifMatch.check(old.map(present -> ""));
      return;
    }
    try (WorkspaceRoot.Opened opened = root.open(path)) {
      ContentTag.check(ifMatch, opened);
    }
  }

  private byte[] appended(WorkspacePath path, byte[] added, FileLimits limits) {
    try (WorkspaceRoot.Opened opened = root.open(path)) {
      long size = opened.stat().size();
      refuseOver(size + added.length, limits);
      byte[] before = ContentScan.readAll(opened.file(), limits.maxWriteBytes());
      refuseOver(before.length + (long) added.length, limits);
      byte[] all = Arrays.copyOf(before, before.length + added.length);
      System.arraycopy(added, 0, all, before.length, added.length);
      return all;
    }
  }

  private String put(
      WorkspacePath path, Optional<FileStat> old, byte[] content, FileLimits limits) {
    long growth = content.length - old.map(DiskMeter::freedBy).orElse(0L);
    meter.reserve(growth, limits.maxDiskBytes());
    int uid = old.map(FileStat::uid).orElse(root.uid());
    int gid = old.map(FileStat::gid).orElse(root.gid());
    int mode = old.map(FileStat::mode).orElse(NEW_MODE) & PERMISSIONS;
    publish(path, content, uid, gid, mode, true);
    meter.add(growth);
    return ContentScan.etag(content);
  }

  private void publish(
      WorkspacePath path, byte[] content, int uid, int gid, int mode, boolean replace) {
    try (ParentDirectory parent = ParentDirectory.open(root, path.parent(), path.sent());
        TemporaryFile temporary = TemporaryFile.create(parent.directory())) {
      temporary.file().write(content, 0, content.length, 0);
      temporary.finish(uid, gid, mode);
      temporary.publish(path.name(), replace);
      parent.keep();
    } catch (LinuxException e) {
      throw Refusal.of(e, path.sent());
    }
  }

  private static byte[] content(FileOperation.WriteFile operation, FileLimits limits) {
    byte[] content =
        switch (operation.encoding()) {
          case UTF_8 -> bytes(operation.content(), "content");
          case BASE64 -> decoded(operation.content());
        };
    refuseOver(content.length, limits);
    return content;
  }

  private static byte[] decoded(String content) {
    try {
      return Base64.getDecoder().decode(content);
    } catch (IllegalArgumentException e) {
      throw Refusal.invalid("content is not base64", "body", "content");
    }
  }

  private static byte[] bytes(String text, String member) {
    try {
      ByteBuffer encoded = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
      byte[] bytes = new byte[encoded.remaining()];
      encoded.get(bytes);
      return bytes;
    } catch (CharacterCodingException e) {
      throw Refusal.invalid(member + " is not well-formed text", "body", member);
    }
  }

  private static void refuseOver(long size, FileLimits limits) {
    if (size > limits.maxWriteBytes()) {
      throw new Refusal(
          new Failure.InvalidLimit(
              "the content would be larger than " + limits.maxWriteBytes() + " bytes",
              limits.maxWriteBytes()));
    }
  }
}
