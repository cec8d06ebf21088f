package io.envapi.files;

import static org.assertj.core.api.Assertions.assertThat;

import io.envapi.failure.Failure;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Names in archives are bytes. */
class ArchiveNamesTest extends ArchiveWorkspace {

  private static final String NAMES =
      """
      mkdir -p src; cd src
      echo 1 > $'n\\xe9'; echo 2 > $'n\\xe8'; echo 3 > n; echo 4 > $'n\\xc3\\xa9'
      long=$(printf '%0200d' 0)
      mkdir $'d\\xff'; echo 5 > $'d\\xff'/$'\\xfe'$long; mkdir $'d\\xff'/$long
      echo 6 > $'d\\xff'/$long/$'\\x80'$long; echo 7 > $'d\\xff'/$long/$'\\x81'$long
      """;

  private static final String LINKS =
      """
      cd src
      ln -s $'n\\xe9' l1; ln -s $'n\\xe8' $'l\\xe8'; ln -s $'d\\xff'/$'\\xfe'$(printf '%0200d' 0) l2
      """;

  /** Names, targets of links and contents below a directory. */
  private String listing(String below) throws Exception {
    return bash(
        "cd "
            + below
            + "; find . -printf '%p %y %l\\n' | sort; find . -type f -print0 | sort -z | xargs -0 cat");
  }

  private byte[] made(String command) throws Exception {
    bash(command);
    return Files.readAllBytes(workspace.at("made"));
  }

  @Test
  void aTarKeepsThem() throws Exception {
    bash(NAMES);
    bash(LINKS);
    unpacked("copy", ArchiveFormat.TAR_GZ, pack("src", ArchiveFormat.TAR_GZ));
    assertThat(listing("copy")).isEqualTo(listing("src")).contains("./n\u00e9 f", "l1 l n\u00e9\n");
  }

  @Test
  void theTarsOfOthersKeepThem() throws Exception {
    bash(NAMES);
    bash(LINKS);
    for (String format : new String[] {"gnu", "posix"}) {
      byte[] archive = made("tar --format=" + format + " -czf made -C src .");
      unpacked(format, ArchiveFormat.TAR_GZ, archive);
      assertThat(listing(format)).as(format).isEqualTo(listing("src"));
    }
    bash("rm -r src/d* src/l2");
    byte[] archive = made("tar --format=ustar -czf made -C src .");
    unpacked("ustar", ArchiveFormat.TAR_GZ, archive);
    assertThat(listing("ustar")).isEqualTo(listing("src"));
  }

  @Test
  void othersFindThemInATar() throws Exception {
    bash(NAMES);
    bash(LINKS);
    Files.write(workspace.at("archive"), pack("src", ArchiveFormat.TAR_GZ));
    bash("mkdir out; tar -xzf archive -C out");
    assertThat(listing("out")).isEqualTo(listing("src"));
  }

  @Test
  void aZipKeepsThem() throws Exception {
    bash(NAMES);
    byte[] archive = pack("src", ArchiveFormat.ZIP);
    unpacked("copy", ArchiveFormat.ZIP, archive);
    assertThat(listing("copy")).isEqualTo(listing("src"));
    assertThat(new String(archive, StandardCharsets.ISO_8859_1))
        .contains("n\u00e9", "n\u00e8")
        .doesNotContain("\\x");
  }

  /** What an entry of the directory says of a name: whether it is UTF-8. */
  private static int flagsAt(byte[] zip, String name) {
    String text = new String(zip, StandardCharsets.ISO_8859_1);
    return text.indexOf(name, text.indexOf("PK\1\2")) - 46 + 8;
  }

  @Test
  void aZipSaysWhichNamesAreText() throws Exception {
    bash(NAMES);
    byte[] archive = pack("src", ArchiveFormat.ZIP);
    assertThat(archive[flagsAt(archive, "n\u00c3\u00a9") + 1] & 8).isEqualTo(8);
    int raw = flagsAt(archive, "n\u00e9");
    assertThat(archive[raw + 1] & 8).isZero();
    archive[raw + 1] |= 8;
    bash("rm -r src");
    assertThat(refused(ArchiveFormat.ZIP, archive)).isInstanceOf(Failure.Invalid.class);
  }

  @Test
  void backslashesOfDosSeparateNames() throws Exception {
    byte[] archive = zip("d_f", "x".getBytes(StandardCharsets.UTF_8), 0);
    for (int at = 0; at < archive.length; at++) {
      archive[at] = archive[at] == '_' ? (byte) '\\' : archive[at];
    }
    unpacked("unix", ArchiveFormat.ZIP, archive);
    assertThat(state("unix")).isEqualTo(Map.of("d\\f", "x"));
    String text = new String(archive, StandardCharsets.ISO_8859_1);
    archive[text.indexOf("PK\1\2") + 5] = 0;
    unpacked("dos", ArchiveFormat.ZIP, archive);
    assertThat(state("dos")).isEqualTo(Map.of("d", "/", "d/f", "x"));
  }

  @Test
  void aLongNameMayBeCutAtASlash() throws Exception {
    for (int length = 96; length < 102; length++) {
      workspace.written("src/" + "d".repeat(length) + "/f", "content");
    }
    unpacked("copy", ArchiveFormat.TAR_GZ, pack("src", ArchiveFormat.TAR_GZ));
    assertThat(state("copy")).isEqualTo(state("src"));
  }

  @Test
  void aLongNameThatIsAbsoluteIsRefusedToo() throws Exception {
    byte[] archive =
        made("touch x; tar -czf made -P --transform 's|.*|/etc/'$(printf '%0200d' 0)'|' x");
    bash("rm x made");
    assertThat(refused(ArchiveFormat.TAR_GZ, archive))
        .isInstanceOf(Failure.PathOutsideWorkspace.class);
  }
}
