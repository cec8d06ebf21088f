package io.envapi.files;

import static org.assertj.core.api.Assertions.assertThat;

import io.envapi.failure.Failure;
import io.envapi.failure.Result;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** A workspace on the disk and the requests of the wire on it, in short. */
final class Fixture implements AutoCloseable {

  /** Some account that is nobody's; as root the workspace is given to it. */
  private static final int SOMEBODY = 23_456;

  final Path files;
  final Path logs;
  final int uid;
  final FileTree tree;
  FileLimits limits = new FileLimits(1 << 20, 16 << 20, 5L << 30);

  Fixture(Path temp) throws Exception {
    files = Files.createDirectory(temp.resolve("workspace"));
    logs = Files.createDirectory(temp.resolve("logs"));
    int self = (int) Files.getAttribute(files, "unix:uid");
    uid = self == 0 ? SOMEBODY : self;
    if (self == 0) {
      Files.setAttribute(files, "unix:uid", uid);
      Files.setAttribute(files, "unix:gid", uid);
    }
    tree = open();
  }

  static boolean isRoot() {
    return "root".equals(System.getProperty("user.name"));
  }

  FileTree open() {
    return FileTree.open(files, logs, uid, List.of("/workspace", files.toString()));
  }

  Path at(String path) {
    return files.resolve(path);
  }

  Result<FileAnswer> run(FileOperation operation) {
    return tree.run(operation, limits);
  }

  <T> T ok(FileOperation operation, Class<T> type) {
    return switch (run(operation)) {
      case Result.Ok<FileAnswer>(var answer) -> type.cast(answer);
      case Result.Refused<FileAnswer>(var failure) ->
          throw new AssertionError(operation + " was refused: " + failure);
    };
  }

  Failure refused(FileOperation operation) {
    return switch (run(operation)) {
      case Result.Ok<FileAnswer>(var answer) -> throw new AssertionError("not refused: " + answer);
      case Result.Refused<FileAnswer>(var failure) -> failure;
    };
  }

  void outside(FileOperation operation) {
    assertThat(refused(operation)).isInstanceOf(Failure.PathOutsideWorkspace.class);
  }

  static FileOperation.WriteFile write(String path, String content) {
    return write(path, content, IfMatch.none());
  }

  static FileOperation.WriteFile write(String path, String content, IfMatch ifMatch) {
    return new FileOperation.WriteFile(
        SentPath.of(path),
        content,
        ContentEncoding.UTF_8,
        FileOperation.WriteMode.OVERWRITE,
        ifMatch,
        IfMatch.none());
  }

  static FileOperation.WriteFile append(String path, String content) {
    return new FileOperation.WriteFile(
        SentPath.of(path),
        content,
        ContentEncoding.UTF_8,
        FileOperation.WriteMode.APPEND,
        IfMatch.none(),
        IfMatch.none());
  }

  static FileOperation.ReadFile read(String path) {
    return read(path, 0, Integer.MAX_VALUE);
  }

  static FileOperation.ReadFile read(String path, long offset, long maxBytes) {
    return new FileOperation.ReadFile(SentPath.of(path), offset, maxBytes);
  }

  static FileOperation.EditFile edit(String path, String old, String replacement) {
    return new FileOperation.EditFile(SentPath.of(path), old, replacement, IfMatch.none());
  }

  static FileOperation.PatchFile patch(String path, String patch) {
    return new FileOperation.PatchFile(SentPath.of(path), patch, IfMatch.none());
  }

  static FileOperation.MakeDirectory mkdir(String path) {
    return new FileOperation.MakeDirectory(SentPath.of(path));
  }

  static FileOperation.DeleteFile delete(String path, boolean recursive) {
    return new FileOperation.DeleteFile(SentPath.of(path), recursive, IfMatch.none());
  }

  static FileOperation.CopyFile copy(String source, String destination) {
    return new FileOperation.CopyFile(
        SentPath.of(source), SentPath.of(destination), IfMatch.none());
  }

  static FileOperation.MoveFile move(String source, String destination) {
    return new FileOperation.MoveFile(
        SentPath.of(source), SentPath.of(destination), IfMatch.none());
  }

  static FileOperation.ListDirectory list(String path, int depth) {
    return new FileOperation.ListDirectory(
        SentPath.of(path), Optional.empty(), depth, 1000, Optional.empty());
  }

  static FileOperation.ListDirectory list(String path, int depth, String glob) {
    return new FileOperation.ListDirectory(
        SentPath.of(path), Optional.of(glob), depth, 1000, Optional.empty());
  }

  FileAnswer.Mutated written(String path, String content) {
    return ok(write(path, content), FileAnswer.Mutated.class);
  }

  FileAnswer.Content content(String path) {
    return ok(read(path), FileAnswer.Content.class);
  }

  String text(String path) {
    return content(path).content();
  }

  Set<String> paths() {
    return ok(list(".", 10), FileAnswer.Listing.class).entries().stream()
        .map(FileAnswer.Entry::path)
        .collect(Collectors.toSet());
  }

  /** Every name there is, also those that listings pass over. */
  Set<String> everything() throws Exception {
    try (var walk = Files.walk(files)) {
      return walk.skip(1).map(p -> files.relativize(p).toString()).collect(Collectors.toSet());
    }
  }

  @Override
  public void close() {
    tree.close();
  }
}
