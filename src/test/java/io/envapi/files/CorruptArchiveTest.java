package io.envapi.files;

import static org.assertj.core.api.Assertions.assertThat;

import io.envapi.failure.Failure;
import io.envapi.failure.Result;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.Map;
import java.util.zip.CRC32;
import java.util.zip.Deflater;
import java.util.zip.GZIPOutputStream;
import org.apache.commons.compress.archivers.tar.TarConstants;
import org.apache.commons.compress.archivers.zip.Zip64Mode;
import org.apache.commons.compress.archivers.zip.ZipArchiveEntry;
import org.apache.commons.compress.archivers.zip.ZipArchiveOutputStream;
import org.junit.jupiter.api.Test;

/** Archives that are not what they say, or not whole, change nothing. */
class CorruptArchiveTest extends ArchiveWorkspace {

  private static final int BLOCK = 512;
  private static final int METHOD_AT = 10;
  private static final int CRC_AT = 16;
  private static final int PACKED_AT = 20;
  private static final int SIZE_AT = 24;

  private void invalid(ArchiveFormat format, byte[] archive) throws Exception {
    assertThat(refused(format, archive)).isInstanceOf(Failure.Invalid.class);
  }

  private void taken(byte[] tar, Map<String, String> expected) throws Exception {
    unpacked("taken", ArchiveFormat.TAR_GZ, tar);
    assertThat(state("taken")).isEqualTo(expected);
    workspace.ok(Fixture.delete("taken", true), FileAnswer.class);
  }

  private static byte[] flipped(byte[] archive, int at) {
    byte[] copy = archive.clone();
    copy[at < 0 ? copy.length + at : at] ^= 1;
    return copy;
  }

  private static byte[] stored(byte[] content) throws IOException {
    var bytes = new ByteArrayOutputStream();
    try (var gzip =
        new GZIPOutputStream(bytes) {
          {
            def.setLevel(Deflater.NO_COMPRESSION);
          }
        }) {
      gzip.write(content);
    }
    return bytes.toByteArray();
  }

  private static int find(byte[] in, String text, int from) {
    return new String(in, StandardCharsets.ISO_8859_1).indexOf(text, from);
  }

  private static byte[] twoFiles() throws IOException {
    return plainTar(
        tar -> {
          file(tar, "a", "the first one");
          file(tar, "b", "the second one");
        });
  }

  private static final Map<String, String> TWO =
      Map.of("a", "the first one", "b", "the second one");

  @Test
  void aGzipIsReadToItsEnd() throws Exception {
    byte[] plain = twoFiles();
    byte[] good = gzip(plain);
    for (int at : new int[] {-8, -5, -4, -1}) {
      invalid(ArchiveFormat.TAR_GZ, flipped(good, at));
    }
    for (int cut : new int[] {1, 4, 8, 9, 12}) {
      invalid(ArchiveFormat.TAR_GZ, Arrays.copyOf(good, good.length - cut));
    }
    byte[] stored = stored(plain);
    invalid(ArchiveFormat.TAR_GZ, flipped(stored, find(stored, "the second", 0)));
    byte[] garbage = "garbage".getBytes(StandardCharsets.UTF_8);
    invalid(ArchiveFormat.TAR_GZ, joined(good, garbage));
    invalid(ArchiveFormat.TAR_GZ, joined(good, new byte[100], garbage));
    invalid(ArchiveFormat.TAR_GZ, joined(good, new byte[1], good));
    invalid(ArchiveFormat.TAR_GZ, joined(good, Arrays.copyOf(good, 15)));
    invalid(ArchiveFormat.TAR_GZ, joined(good, flipped(gzip(new byte[0]), -1)));
  }

  @Test
  void aGzipMayHaveMembersAndPadding() throws Exception {
    byte[] plain = twoFiles();
    taken(joined(gzip(plain), new byte[300_000]), TWO);
    taken(joined(gzip(plain), gzip(new byte[0]), gzip(new byte[5 * BLOCK]), new byte[1]), TWO);
    for (int at : new int[] {1, 100, 600, 2000}) {
      byte[] start = Arrays.copyOf(plain, at);
      taken(joined(stored(start), gzip(Arrays.copyOfRange(plain, at, plain.length))), TWO);
    }
    // The first member ends where a piece that is read does.
    byte[] big = plainTar(tar -> file(tar, "big", "x".repeat(200_000)));
    for (int piece : new int[] {FileBytes.MOST - 1, FileBytes.MOST, FileBytes.MOST + 1}) {
      int at = piece - (stored(Arrays.copyOf(big, 100_000)).length - 100_000);
      byte[] first = stored(Arrays.copyOf(big, at));
      byte[] second = stored(Arrays.copyOfRange(big, at, big.length));
      taken(joined(first, second), Map.of("big", "x".repeat(200_000)));
    }
  }

  @Test
  void noFlippedBitOfAGzipGoesUnseen() throws Exception {
    byte[] good = gzip(twoFiles());
    for (int at = 0; at < good.length; at++) {
      if (unpack("flip", ArchiveFormat.TAR_GZ, flipped(good, at)) instanceof Result.Ok<?>) {
        assertThat(state("flip")).as("byte " + at).isEqualTo(TWO);
      }
    }
  }

  @Test
  void aHeaderOfATarIsWhatItsChecksumSays() throws Exception {
    byte[] plain = twoFiles();
    for (int at : new int[] {0, 100, 148, 156, 2 * BLOCK, 2 * BLOCK + 156, 3 * BLOCK - 1}) {
      invalid(ArchiveFormat.TAR_GZ, gzip(flipped(plain, at)));
    }
    byte[] named = plainTar(tar -> file(tar, "n".repeat(200), "x"));
    invalid(ArchiveFormat.TAR_GZ, gzip(flipped(named, 300)));
  }

  @Test
  void aTarThatIsCutOffIsNoTar() throws Exception {
    byte[] plain = twoFiles();
    for (int length = 0; length < 4 * BLOCK; length += 64) {
      byte[] cut = gzip(Arrays.copyOf(plain, length));
      // Where an entry ends there need not be an end, as for tar(1).
      if (length == 2 * BLOCK) {
        taken(cut, Map.of("a", "the first one"));
      } else {
        invalid(ArchiveFormat.TAR_GZ, cut);
      }
    }
    byte[] ahead =
        plainTar(
            tar -> {
              file(tar, "a", "x");
              link(tar, "l".repeat(200), TarConstants.LF_SYMLINK, "t".repeat(200));
            });
    for (int length = 3; length < 7; length++) {
      byte[] cut = Arrays.copyOf(ahead, length * BLOCK);
      invalid(ArchiveFormat.TAR_GZ, gzip(cut));
      invalid(ArchiveFormat.TAR_GZ, gzip(joined(cut, new byte[2 * BLOCK])));
    }
  }

  @Test
  void nothingFollowsTheEndOfATar() throws Exception {
    byte[] plain = twoFiles();
    byte[] more = plainTar(tar -> file(tar, "c", "lost"));
    invalid(ArchiveFormat.TAR_GZ, gzip(joined(plain, more)));
    invalid(ArchiveFormat.TAR_GZ, joined(gzip(plain), gzip(more)));
    byte[] entries = Arrays.copyOf(plain, 4 * BLOCK);
    invalid(ArchiveFormat.TAR_GZ, gzip(joined(entries, new byte[BLOCK], more)));
    taken(gzip(joined(entries, new byte[BLOCK])), TWO);
    taken(gzip(joined(entries, new byte[2 * BLOCK + 100])), TWO);
  }

  @Test
  void filesWithHolesComeWholeOrNotAtAll() throws Exception {
    bash(
        """
        mkdir holes; cd holes
        for i in 1 2 3 4 5 6 7 8; do printf "part $i" | dd of=f bs=1 seek=$((i * 100000)) status=none; done
        truncate -s 1000000 f
        """);
    String sum = bash("md5sum < holes/f");
    for (String format : new String[] {"gnu", "posix", "posix --sparse-version=0.1"}) {
      bash("tar --format=" + format + " -S -cf sparse.tar -C holes f; gzip -kf sparse.tar");
      byte[] archive = Files.readAllBytes(workspace.at("sparse.tar.gz"));
      assertThat(unpacked("whole", ArchiveFormat.TAR_GZ, archive).bytes()).isEqualTo(1_000_000);
      assertThat(bash("md5sum < whole/f")).as(format).isEqualTo(sum);
      byte[] plain = Files.readAllBytes(workspace.at("sparse.tar"));
      int last = find(plain, "part 8", 0);
      Files.delete(workspace.at("sparse.tar"));
      Files.delete(workspace.at("sparse.tar.gz"));
      Files.move(workspace.at("holes/f"), temp.resolve("f"));
      invalid(ArchiveFormat.TAR_GZ, gzip(Arrays.copyOf(plain, last)));
      invalid(ArchiveFormat.TAR_GZ, gzip(Arrays.copyOf(plain, last - 10_000)));
      Files.move(temp.resolve("f"), workspace.at("holes/f"));
    }
  }

  private static byte[] zipOf(int method, byte[] content) throws IOException {
    var bytes = new ByteArrayOutputStream();
    try (var zip = new ZipArchiveOutputStream(bytes)) {
      zip.setMethod(method);
      for (String name : new String[] {"a", "b"}) {
        var entry = new ZipArchiveEntry(name);
        entry.setSize(content.length);
        var sum = new CRC32();
        sum.update(content);
        entry.setCrc(sum.getValue());
        zip.putArchiveEntry(entry);
        zip.write(content);
        zip.closeArchiveEntry();
      }
    }
    return bytes.toByteArray();
  }

  /** The directory's entry of the last file. */
  private static int directory(byte[] zip) {
    return find(zip, "PK\1\2", find(zip, "PK\1\2", 0) + 1);
  }

  private static byte[] with(byte[] zip, int field, int value) {
    byte[] copy = zip.clone();
    ByteBuffer.wrap(copy).order(ByteOrder.LITTLE_ENDIAN).putInt(directory(zip) + field, value);
    return copy;
  }

  @Test
  void anEntryOfAZipIsWhatTheDirectorySays() throws Exception {
    for (int method : new int[] {ZipArchiveEntry.STORED, ZipArchiveEntry.DEFLATED}) {
      byte[] small = zipOf(method, new byte[1_000]);
      byte[] large = zipOf(method, new byte[100_000]);
      invalid(ArchiveFormat.ZIP, with(large, SIZE_AT, 10));
      invalid(ArchiveFormat.ZIP, with(large, SIZE_AT, 0));
      invalid(ArchiveFormat.ZIP, with(small, SIZE_AT, 2_000_000_000));
      invalid(ArchiveFormat.ZIP, with(small, SIZE_AT, 1_001));
      invalid(ArchiveFormat.ZIP, with(small, CRC_AT, 1));
      invalid(ArchiveFormat.ZIP, with(large, PACKED_AT, 10));
      invalid(ArchiveFormat.ZIP, with(large, PACKED_AT, 2_000_000_000));
    }
    byte[] link = zip("l", "target".getBytes(StandardCharsets.UTF_8), 0120777);
    int entry = find(link, "PK\1\2", 0);
    invalid(ArchiveFormat.ZIP, flipped(link, entry + CRC_AT));
    invalid(ArchiveFormat.ZIP, zip("l", new byte[5_000], 0120777));
  }

  @Test
  void aZipMayBeALargeOne() throws Exception {
    var bytes = new ByteArrayOutputStream();
    try (var zip = new ZipArchiveOutputStream(bytes)) {
      zip.setUseZip64(Zip64Mode.Always);
      zip.putArchiveEntry(new ZipArchiveEntry("a"));
      zip.write("content".getBytes(StandardCharsets.UTF_8));
      zip.closeArchiveEntry();
    }
    byte[] large = bytes.toByteArray();
    assertThat(find(large, "PK\6\6", 0)).isPositive();
    unpacked("large", ArchiveFormat.ZIP, large);
    assertThat(state("large")).isEqualTo(Map.of("a", "content"));
  }

  @Test
  void theDirectoryOfAZipIsReadToItsEnd() throws Exception {
    byte[] good = zipOf(ZipArchiveEntry.DEFLATED, "content".getBytes(StandardCharsets.UTF_8));
    assertThat(unpacked("good", ArchiveFormat.ZIP, good).entries()).isEqualTo(2);
    for (int at = 0; at < 4; at++) {
      invalid(ArchiveFormat.ZIP, flipped(good, directory(good) + at));
    }
    for (byte method : new byte[] {1, 6, 93, 95, 99, 127}) {
      byte[] other = good.clone();
      other[directory(good) + METHOD_AT] = method;
      invalid(ArchiveFormat.ZIP, other);
    }
  }

  @Test
  void noFlippedBitOfAZipGoesUnseen() throws Exception {
    byte[] good = zipOf(ZipArchiveEntry.DEFLATED, "content".getBytes(StandardCharsets.UTF_8));
    for (int at = 0; at < good.length; at++) {
      for (int bit = 0; bit < 2; bit++) {
        byte[] bad = good.clone();
        bad[at] ^= (byte) (1 << (at + 4 * bit) % 8);
        if (unpack("flip", ArchiveFormat.ZIP, bad) instanceof Result.Ok<?>) {
          assertThat(state("flip"))
              .as("byte " + at)
              .isEqualTo(Map.of("a", "content", "b", "content"));
        }
      }
    }
  }
}
