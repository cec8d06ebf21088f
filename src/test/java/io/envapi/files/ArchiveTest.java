package io.envapi.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.envapi.failure.Failure;
import io.envapi.failure.Result;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import java.util.zip.ZipInputStream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.apache.commons.compress.archivers.tar.TarConstants;
import org.junit.jupiter.api.Test;

/** Trees as archives, and archives that are made to do harm. */
class ArchiveTest extends ArchiveWorkspace {

  private void aTree() throws Exception {
    workspace.written("src/a.txt", "one");
    workspace.written("src/deep/" + "d".repeat(200) + "/" + "f".repeat(200), "long");
    workspace.written("src/big", "x".repeat(500_000));
    workspace.written("src/é\n", "odd");
    workspace.ok(Fixture.mkdir("src/empty"), FileAnswer.Made.class);
    Files.setPosixFilePermissions(
        workspace.at("src/a.txt"), PosixFilePermissions.fromString("rwxr-x---"));
    Files.createSymbolicLink(workspace.at("src/link"), Path.of("deep"));
  }

  @Test
  void aBackslashInANameStaysOne() throws Exception {
    for (String name : List.of("a\\b", "..\\..\\evil", "\\absolute")) {
      workspace.written("q/keep", "x");
      Files.writeString(workspace.at("q").resolve(name), "x");
    }
    var names = new ArrayList<String>();
    try (var zip = new ZipInputStream(new ByteArrayInputStream(pack("q", ArchiveFormat.ZIP)))) {
      for (var entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
        names.add(entry.getName());
      }
    }
    assertThat(names).contains("a\\b", "..\\..\\evil", "\\absolute", "keep");
  }

  @Test
  void aTarComesBackAsItWas() throws Exception {
    aTree();
    byte[] archive = pack("src", ArchiveFormat.TAR_GZ);
    TransferAnswer.Unpacked done = unpacked("copy/of", ArchiveFormat.TAR_GZ, archive);
    assertThat(done.path()).isEqualTo("copy/of");
    assertThat(done.bytes()).isEqualTo(500_010);
    assertThat(done.entries()).isEqualTo(state("src").size());
    assertThat(state("copy/of")).isEqualTo(state("src")).containsEntry("link", "-> deep");
    assertThat(Files.getPosixFilePermissions(workspace.at("copy/of/a.txt")))
        .isEqualTo(PosixFilePermissions.fromString("rwxr-x---"));
    for (String each : new String[] {"copy/of", "copy/of/a.txt", "copy/of/deep", "copy/of/link"}) {
      assertThat(Files.getAttribute(workspace.at(each), "unix:uid", LinkOption.NOFOLLOW_LINKS))
          .as(each)
          .isEqualTo(workspace.uid);
    }
  }

  @Test
  void aZipComesBackWithoutItsLinks() throws Exception {
    aTree();
    unpacked("copy", ArchiveFormat.ZIP, pack("src", ArchiveFormat.ZIP));
    Map<String, String> expected = state("src");
    expected.remove("link");
    assertThat(state("copy")).isEqualTo(expected);
    unpacked("one", ArchiveFormat.ZIP, pack("src/a.txt", ArchiveFormat.ZIP));
    assertThat(state("one")).isEqualTo(Map.of("a.txt", "one"));
  }

  @Test
  void whatIsNoFileIsLeftOut() throws Exception {
    workspace.written("d/f", "x");
    Process fifo = new ProcessBuilder("mkfifo", workspace.at("d/fifo").toString()).start();
    assumeThat(fifo.waitFor()).as("mkfifo works").isZero();
    try (var tar =
        new TarArchiveInputStream(
            new GZIPInputStream(new ByteArrayInputStream(pack("d", ArchiveFormat.TAR_GZ))))) {
      assertThat(tar.getNextEntry().getName()).isEqualTo("f");
      assertThat(tar.getNextEntry()).isNull();
    }
  }

  @Test
  void anArchiveGoesIntoWhatIsThere() throws Exception {
    workspace.written("d/old", "old");
    workspace.written("d/sub/replaced", "before");
    byte[] archive =
        tar(
            tar -> {
              file(tar, "./d/sub/replaced", "after");
              file(tar, "d/sub/new", "n");
              file(tar, "d/again", "1");
              file(tar, "d/again", "2");
              link(tar, "d/hard", TarConstants.LF_LINK, "d/sub/new");
            });
    unpacked(".", ArchiveFormat.TAR_GZ, archive);
    assertThat(state("d"))
        .isEqualTo(
            Map.of(
                "old",
                "old",
                "sub",
                "/",
                "sub/replaced",
                "after",
                "sub/new",
                "n",
                "again",
                "2",
                "hard",
                "n"));
    assertThat((Integer) Files.getAttribute(workspace.at("d/hard"), "unix:nlink")).isEqualTo(1);
  }

  @Test
  void whatDoesNotFitChangesNothing() throws Exception {
    workspace.written("a", "file");
    workspace.written("b/is", "directory");
    byte[] archive = tar(tar -> file(tar, "a/below", "x"));
    assertThat(refused(ArchiveFormat.TAR_GZ, archive)).isInstanceOf(Failure.Conflict.class);
    byte[] other =
        tar(
            tar -> {
              file(tar, "a", "replaced");
              file(tar, "b", "x");
              file(tar, "c", "x");
            });
    assertThat(refused(ArchiveFormat.TAR_GZ, other)).isInstanceOf(Failure.Conflict.class);
    assertThat(workspace.text("a")).isEqualTo("file");
  }

  @Test
  void nothingLeadsOut() throws Exception {
    for (String name : new String[] {"../x", "a/../../x", "/etc/x", "a/.."}) {
      assertThat(refused(ArchiveFormat.TAR_GZ, tar(tar -> file(tar, name, "x"))))
          .as(name)
          .isInstanceOf(Failure.PathOutsideWorkspace.class);
      assertThat(refused(ArchiveFormat.ZIP, zip(name, new byte[1], 0100644)))
          .as(name)
          .isInstanceOf(Failure.PathOutsideWorkspace.class);
    }
    for (String target : new String[] {"/etc", "..", "a/../..", "../../x", "b/../x"}) {
      assertThat(
              refused(
                  ArchiveFormat.TAR_GZ,
                  tar(tar -> link(tar, "l", TarConstants.LF_SYMLINK, target))))
          .as(target)
          .isInstanceOf(Failure.PathOutsideWorkspace.class);
      assertThat(
              refused(
                  ArchiveFormat.ZIP, zip("l", target.getBytes(StandardCharsets.UTF_8), 0120777)))
          .as(target)
          .isInstanceOf(Failure.PathOutsideWorkspace.class);
    }
    // Through a link of its own.
    assertThat(
            refused(
                ArchiveFormat.TAR_GZ,
                tar(
                    tar -> {
                      file(tar, "d/f", "x");
                      link(tar, "l", TarConstants.LF_SYMLINK, "d");
                      file(tar, "l/g", "x");
                    })))
        .isInstanceOf(Failure.PathOutsideWorkspace.class);
    assertThat(
            refused(
                ArchiveFormat.TAR_GZ,
                tar(tar -> link(tar, "l", TarConstants.LF_LINK, "../../../etc/passwd"))))
        .isInstanceOf(Failure.PathOutsideWorkspace.class);
    assertThat(
            refused(ArchiveFormat.TAR_GZ, tar(tar -> link(tar, "fifo", TarConstants.LF_FIFO, ""))))
        .isInstanceOf(Failure.Invalid.class);
    assertThat(refused(ArchiveFormat.TAR_GZ, tar(tar -> link(tar, "dev", TarConstants.LF_CHR, ""))))
        .isInstanceOf(Failure.Invalid.class);
  }

  @Test
  void bombsAndNonsenseAreRefused() throws Exception {
    byte[] zeros = new byte[100 << 20];
    byte[] bomb =
        tar(
            tar -> {
              var entry = new TarArchiveEntry("zeros");
              entry.setSize(zeros.length);
              tar.putArchiveEntry(entry);
              tar.write(zeros);
              tar.closeArchiveEntry();
            });
    assertThat(refused(ArchiveFormat.TAR_GZ, bomb)).isInstanceOf(Failure.Invalid.class);
    assertThat(refused(ArchiveFormat.ZIP, zip("zeros", zeros, 0100644)))
        .isInstanceOf(Failure.Invalid.class);
    // A name that would be held in memory.
    byte[] name =
        tar(
            tar -> {
              var entry = new TarArchiveEntry("././@LongLink", TarConstants.LF_GNUTYPE_LONGNAME);
              entry.setSize(zeros.length);
              tar.putArchiveEntry(entry);
              tar.write(zeros);
              tar.closeArchiveEntry();
            });
    assertThat(refused(ArchiveFormat.TAR_GZ, name)).isInstanceOf(Failure.Invalid.class);
    var text = new ByteArrayOutputStream();
    try (var gzip = new GZIPOutputStream(text)) {
      gzip.write("hello".getBytes(StandardCharsets.UTF_8));
    }
    assertThat(refused(ArchiveFormat.TAR_GZ, text.toByteArray()))
        .isInstanceOf(Failure.Invalid.class);
    assertThat(unpacked("none", ArchiveFormat.TAR_GZ, tar(tar -> {})).entries()).isZero();
    Files.deleteIfExists(workspace.at("none"));
    byte[] cut = Arrays.copyOf(bomb, bomb.length / 2);
    for (ArchiveFormat format : ArchiveFormat.values()) {
      assertThat(refused(format, new byte[0])).isInstanceOf(Failure.Invalid.class);
      assertThat(refused(format, "nonsense".repeat(100).getBytes(StandardCharsets.UTF_8)))
          .isInstanceOf(Failure.Invalid.class);
      assertThat(refused(format, cut)).isInstanceOf(Failure.Invalid.class);
    }
    byte[] many =
        tar(
            tar -> {
              for (int i = 0; i <= ArchiveUnpacking.MOST_ENTRIES; i++) {
                tar.putArchiveEntry(new TarArchiveEntry("d/"));
                tar.closeArchiveEntry();
              }
            });
    assertThat(refused(ArchiveFormat.TAR_GZ, many)).isInstanceOf(Failure.Invalid.class);
  }

  @Test
  void theQuotaHoldsWhileItIsUnpacked() throws Exception {
    byte[] archive = tar(tar -> file(tar, "d/f", "x".repeat(200_000)));
    workspace.limits = new FileLimits(1 << 20, 1 << 20, 100_000);
    assertThat(refused(ArchiveFormat.TAR_GZ, archive)).isInstanceOf(Failure.QuotaExceeded.class);
    workspace.written("g", "x".repeat(90_000));
  }

  @Test
  void aDeepTreeIsGoneThroughDownAndUp() throws Exception {
    Path at = workspace.at("src");
    for (int depth = 0; depth < 300; depth++) {
      at = at.resolve("d");
      Files.createDirectories(at);
      Files.writeString(at.resolve("z"), Integer.toString(depth));
    }
    unpacked("copy", ArchiveFormat.TAR_GZ, pack("src", ArchiveFormat.TAR_GZ));
    assertThat(state("copy")).hasSize(600).isEqualTo(state("src"));
  }

  @Test
  void whatIsMovedAwayMeanwhileIsNotFollowed() throws Exception {
    workspace.written("src/a/in/f", "x".repeat(200_000));
    workspace.written("src/a/z", "not followed");
    workspace.written("src/z", "kept");
    String id =
        step(
                new TransferStep.OpenArchive(SentPath.of("src"), ArchiveFormat.TAR_GZ),
                TransferAnswer.Archive.class)
            .transfer();
    var bytes = new ByteArrayOutputStream();
    bytes.write(step(new TransferStep.Read(id, 0, 1), TransferAnswer.Piece.class).bytes().array());
    Path outside = Files.createDirectory(temp.resolve("outside"));
    Files.writeString(outside.resolve("secret"), "outside");
    Files.move(workspace.at("src/a/in"), outside.resolve("in"));
    FileBytes piece;
    do {
      piece =
          step(new TransferStep.Read(id, bytes.size(), 10_000), TransferAnswer.Piece.class).bytes();
      bytes.write(piece.array());
    } while (piece.length() > 0);
    step(new TransferStep.Close(id), TransferAnswer.Closed.class);
    unpacked("copy", ArchiveFormat.TAR_GZ, bytes.toByteArray());
    assertThat(state("copy")).containsEntry("z", "kept").doesNotContainValue("outside");
  }

  @Test
  void whatNobodyWantsAnyMoreEnds() throws Exception {
    aTree();
    String id =
        step(
                new TransferStep.OpenArchive(SentPath.of("src"), ArchiveFormat.TAR_GZ),
                TransferAnswer.Archive.class)
            .transfer();
    step(new TransferStep.Close(id), TransferAnswer.Closed.class);
    assertThat(workspace.tree.transfer(new TransferStep.Read(id, 0, 10), workspace.limits))
        .isInstanceOf(Result.Refused.class);
  }
}
