package io.envapi.files;

import io.envapi.failure.Failure;
import io.envapi.linux.FileKind;
import io.envapi.linux.FileStat;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Works out what writes, edits, patches and copies make of a file, and refuses those that cannot be
 * done. Changes nothing. Runs under the tree's lock.
 */
final class FileChanges {

  /** What is to become of a file but is not on the disk yet, as seen by the operations after it. */
  @FunctionalInterface
  interface Pending {

    Pending NONE = _ -> Optional.empty();

    Optional<FileChange> find(WorkspacePath path);
  }

  private static final List<Integer> NONE = List.of();
  private static final int NEW_MODE = 0644;

  /** Never kept: setuid, setgid, sticky. */
  private static final int PERMISSIONS = 0777;

  private final WorkspaceRoot root;
  private final FileLimits limits;
  private final Pending pending;

  FileChanges(WorkspaceRoot root, FileLimits limits, Pending pending) {
    this.root = root;
    this.limits = limits;
    this.pending = pending;
  }

  FileChange write(FileOperation.WriteFile operation) {
    WorkspacePath path = root.path(operation.path(), "body", "path");
    byte[] content = content(operation);
    boolean append = operation.mode() == FileOperation.WriteMode.APPEND;
    Optional<FileChange> before = pending.find(path);
    if (before.isPresent()) {
      byte[] present = before.get().content();
      operation.ifMatch().check(Optional.of(ContentScan.etag(present)));
      operation.ifNoneMatch().checkNone(Optional.of(ContentScan.etag(present)));
      return changed(
          path, before.get().old(), append ? joined(present, content) : content, "", NONE, NONE);
    }
    Optional<FileStat> old = target(path);
    checkTags(path, old, operation.ifMatch(), operation.ifNoneMatch());
    if (append && old.isPresent()) {
      content = appended(path, content);
    }
    return changed(path, old, content, "", NONE, NONE);
  }

  FileChange edit(FileOperation.EditFile operation) {
    WorkspacePath path = root.path(operation.path(), "body", "path");
    if (operation.oldString().isEmpty()) {
      throw Refusal.invalid("old_string is empty", "body", "old_string");
    }
    bytes(operation.oldString(), "old_string");
    bytes(operation.newString(), "new_string");
    Text text = text(path, operation.ifMatch());
    TextChange change = TextEdit.of(text.lines(), operation.oldString(), operation.newString());
    return change(path, text, List.of(change), NONE, NONE);
  }

  FileChange patch(FileOperation.PatchFile operation) {
    WorkspacePath path = root.path(operation.path(), "body", "path");
    bytes(operation.patch(), "patch");
    UnifiedPatch patch = UnifiedPatch.parse(operation.patch());
    Text text = text(path, operation.ifMatch());
    UnifiedPatch.Applied applied = patch.apply(text.lines());
    return change(path, text, applied.changes(), applied.applied(), applied.rejected());
  }

  FileChange copy(FileOperation.CopyFile operation) {
    WorkspacePath source = root.path(operation.source(), "body", "source");
    WorkspacePath target = root.path(operation.destination(), "body", "destination");
    byte[] content;
    int mode;
    Optional<FileChange> before = pending.find(source);
    if (before.isPresent()) {
      content = before.get().content();
      mode = before.get().mode();
      operation.ifMatch().check(Optional.of(ContentScan.etag(content)));
    } else {
      try (WorkspaceRoot.Opened opened = root.open(source, operation.ifMatch())) {
        content = ContentScan.readAll(opened.file(), limits.maxWriteBytes());
        mode = opened.stat().mode() & PERMISSIONS;
      }
      operation.ifMatch().check(Optional.of(ContentScan.etag(content)));
    }
    if (root.find(target).isPresent()) {
      throw Refusal.conflict("the destination exists");
    }
    return new FileChange(
        target, Optional.empty(), new FileBytes(content), mode, false, true, "", NONE, NONE);
  }

  private record Text(Optional<FileStat> stat, TextLines lines) {}

  private Text text(WorkspacePath path, IfMatch ifMatch) {
    Optional<FileChange> before = pending.find(path);
    if (before.isPresent()) {
      return text(before.get().old(), before.get().content(), ifMatch);
    }
    Optional<FileStat> old = root.find(path);
    if (old.isEmpty()) {
      ifMatch.check(Optional.empty());
    } else if (old.get().kind() == FileKind.DIRECTORY) {
      throw Refusal.invalid("the path is a directory", "body", "path");
    }
    try (WorkspaceRoot.Opened opened = root.open(path)) {
      byte[] bytes = ContentScan.readAll(opened.file(), limits.maxWriteBytes());
      return text(Optional.of(opened.stat()), bytes, ifMatch);
    }
  }

  private static Text text(Optional<FileStat> stat, byte[] bytes, IfMatch ifMatch) {
    ifMatch.check(Optional.of(ContentScan.etag(bytes)));
    if (!new Utf8Scan().accept(bytes, 0, bytes.length).isText()) {
      throw new Refusal(new Failure.Binary());
    }
    return new Text(stat, new TextLines(new String(bytes, StandardCharsets.UTF_8)));
  }

  private FileChange change(
      WorkspacePath path,
      Text text,
      List<TextChange> changes,
      List<Integer> applied,
      List<Integer> rejected) {
    String after = TextChange.apply(text.lines(), changes);
    String diff = TextChange.diff(path.shown(), text.lines(), changes);
    byte[] content = after.getBytes(StandardCharsets.UTF_8);
    boolean same = after.equals(text.lines().text()) && pending.find(path).isEmpty();
    FileChange change = changed(path, text.stat(), content, diff, applied, rejected);
    return same ? change.unchanged() : change;
  }

  private FileChange changed(
      WorkspacePath path,
      Optional<FileStat> old,
      byte[] content,
      String diff,
      List<Integer> applied,
      List<Integer> rejected) {
    refuseOver(content.length);
    int mode = old.map(FileStat::mode).orElse(NEW_MODE) & PERMISSIONS;
    return new FileChange(
        path, old, new FileBytes(content), mode, false, false, diff, applied, rejected);
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

  private void checkTags(
      WorkspacePath path, Optional<FileStat> old, IfMatch ifMatch, IfMatch ifNoneMatch) {
    if (old.isEmpty() || !(ifMatch.namesTags() || ifNoneMatch.namesTags())) {
      Optional<String> some = old.map(_ -> "");
      ifMatch.check(some);
      ifNoneMatch.checkNone(some);
      return;
    }
    try (WorkspaceRoot.Opened opened = root.open(path)) {
      ContentTag.check(ifMatch, opened);
      ContentTag.checkNone(ifNoneMatch, opened);
    }
  }

  private byte[] appended(WorkspacePath path, byte[] added) {
    try (WorkspaceRoot.Opened opened = root.open(path)) {
      refuseOver(opened.stat().size() + added.length);
      return joined(ContentScan.readAll(opened.file(), limits.maxWriteBytes()), added);
    }
  }

  private byte[] joined(byte[] before, byte[] added) {
    refuseOver(before.length + (long) added.length);
    byte[] all = Arrays.copyOf(before, before.length + added.length);
    System.arraycopy(added, 0, all, before.length, added.length);
    return all;
  }

  private byte[] content(FileOperation.WriteFile operation) {
    byte[] content =
        switch (operation.encoding()) {
          case UTF_8 -> bytes(operation.content(), "content");
          case BASE64 -> decoded(operation.content());
        };
    refuseOver(content.length);
    return content;
  }

  private static byte[] decoded(String content) {
    try {
      return ContentEncoding.fromBase64(content);
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

  private void refuseOver(long size) {
    if (size > limits.maxWriteBytes()) {
      throw new Refusal(
          new Failure.InvalidLimit(
              "the content would be larger than " + limits.maxWriteBytes() + " bytes",
              limits.maxWriteBytes()));
    }
  }
}
