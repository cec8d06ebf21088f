package io.envapi.files;

import static org.assertj.core.api.Assertions.assertThat;

import io.envapi.failure.Failure;
import io.envapi.failure.Result;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.zip.GZIPOutputStream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;
import org.apache.commons.compress.archivers.zip.ZipArchiveEntry;
import org.apache.commons.compress.archivers.zip.ZipArchiveOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A workspace, archives of it and into it. */
abstract class ArchiveWorkspace {

  @FunctionalInterface
  interface Tar {
    void write(TarArchiveOutputStream out) throws IOException;
  }

  @TempDir Path temp;
  Fixture workspace;

  @BeforeEach
  void open() throws Exception {
    workspace = new Fixture(temp);
  }

  @AfterEach
  void close() {
    workspace.close();
  }

  final <T extends TransferAnswer> T step(TransferStep step, Class<T> type) {
    return switch (workspace.tree.transfer(step, workspace.limits)) {
      case Result.Ok<TransferAnswer>(var answer) -> type.cast(answer);
      case Result.Refused<TransferAnswer>(var failure) ->
          throw new AssertionError(step + " was refused: " + failure);
    };
  }

  final byte[] pack(String path, ArchiveFormat format) throws Exception {
    String id =
        step(new TransferStep.OpenArchive(SentPath.of(path), format), TransferAnswer.Archive.class)
            .transfer();
    var bytes = new ByteArrayOutputStream();
    while (true) {
      FileBytes piece =
          step(new TransferStep.Read(id, bytes.size(), 10_000), TransferAnswer.Piece.class).bytes();
      if (piece.length() == 0) {
        step(new TransferStep.Close(id), TransferAnswer.Closed.class);
        return bytes.toByteArray();
      }
      bytes.write(piece.array());
    }
  }

  final Result<TransferAnswer> unpack(String path, ArchiveFormat format, byte[] archive) {
    String id =
        step(
                new TransferStep.OpenUnpack(
                    SentPath.of(path), format, Optional.of((long) archive.length)),
                TransferAnswer.Writable.class)
            .transfer();
    for (int at = 0; at < archive.length; at += FileBytes.MOST) {
      byte[] piece = Arrays.copyOfRange(archive, at, Math.min(archive.length, at + FileBytes.MOST));
      step(new TransferStep.Append(id, at, new FileBytes(piece)), TransferAnswer.Appended.class);
    }
    return workspace.tree.transfer(new TransferStep.Unpack(id), workspace.limits);
  }

  final TransferAnswer.Unpacked unpacked(String path, ArchiveFormat format, byte[] archive) {
    return switch (unpack(path, format, archive)) {
      case Result.Ok<TransferAnswer>(var answer) -> (TransferAnswer.Unpacked) answer;
      case Result.Refused<TransferAnswer>(var failure) -> throw new AssertionError(failure);
    };
  }

  /** That it is refused, and that nothing of it is left. */
  final Failure refused(ArchiveFormat format, byte[] archive) throws Exception {
    Map<String, String> before = state(".");
    Result<TransferAnswer> result = unpack(".", format, archive);
    assertThat(result).isInstanceOf(Result.Refused.class);
    assertThat(state(".")).isEqualTo(before);
    return ((Result.Refused<TransferAnswer>) result).failure();
  }

  final Map<String, String> state(String below) throws Exception {
    Path base = workspace.at(below);
    var state = new TreeMap<String, String>();
    try (var walk = Files.walk(base)) {
      for (Path each : walk.skip(1).toList()) {
        state.put(
            base.relativize(each).toString(),
            Files.isSymbolicLink(each)
                ? "-> " + Files.readSymbolicLink(each)
                : Files.isDirectory(each) ? "/" : Files.readString(each));
      }
    }
    return state;
  }

  static byte[] plainTar(Tar content) throws IOException {
    var bytes = new ByteArrayOutputStream();
    try (var tar = new TarArchiveOutputStream(bytes, "UTF-8")) {
      tar.setLongFileMode(TarArchiveOutputStream.LONGFILE_GNU);
      content.write(tar);
    }
    return bytes.toByteArray();
  }

  static byte[] tar(Tar content) throws IOException {
    return gzip(plainTar(content));
  }

  static byte[] gzip(byte[] content) throws IOException {
    var bytes = new ByteArrayOutputStream();
    try (var gzip = new GZIPOutputStream(bytes)) {
      gzip.write(content);
    }
    return bytes.toByteArray();
  }

  static byte[] joined(byte[]... parts) throws IOException {
    var bytes = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      bytes.write(part);
    }
    return bytes.toByteArray();
  }

  /** What bash writes, each byte as one character. */
  final String bash(String script) throws Exception {
    var builder = new ProcessBuilder("bash", "-ec", script).directory(workspace.at(".").toFile());
    builder.environment().put("LC_ALL", "C");
    Process process = builder.redirectError(ProcessBuilder.Redirect.INHERIT).start();
    byte[] output = process.getInputStream().readAllBytes();
    assertThat(process.waitFor()).isZero();
    return new String(output, StandardCharsets.ISO_8859_1);
  }

  static void file(TarArchiveOutputStream tar, String name, String content) throws IOException {
    byte[] bytes = content.getBytes(StandardCharsets.UTF_8);
    var entry = new TarArchiveEntry(name, true);
    entry.setSize(bytes.length);
    tar.putArchiveEntry(entry);
    tar.write(bytes);
    tar.closeArchiveEntry();
  }

  static void link(TarArchiveOutputStream tar, String name, byte type, String target)
      throws IOException {
    var entry = new TarArchiveEntry(name, type);
    entry.setLinkName(target);
    tar.putArchiveEntry(entry);
    tar.closeArchiveEntry();
  }

  static byte[] zip(String name, byte[] content, int mode) throws IOException {
    var bytes = new ByteArrayOutputStream();
    try (var zip = new ZipArchiveOutputStream(bytes)) {
      var entry = new ZipArchiveEntry(name);
      entry.setUnixMode(mode);
      zip.putArchiveEntry(entry);
      zip.write(content);
      zip.closeArchiveEntry();
    }
    return bytes.toByteArray();
  }
}
