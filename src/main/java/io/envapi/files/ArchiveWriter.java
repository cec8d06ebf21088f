package io.envapi.files;

import io.envapi.linux.FileName;
import io.envapi.linux.FileStat;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Collectors;
import java.util.zip.Deflater;
import org.apache.commons.compress.archivers.ArchiveEntry;
import org.apache.commons.compress.archivers.ArchiveOutputStream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;
import org.apache.commons.compress.archivers.tar.TarConstants;
import org.apache.commons.compress.archivers.zip.ZipArchiveEntry;
import org.apache.commons.compress.archivers.zip.ZipArchiveOutputStream;
import org.apache.commons.compress.compressors.gzip.GzipCompressorOutputStream;
import org.apache.commons.compress.compressors.gzip.GzipParameters;

/** Writes entries in one of the formats. Owners are not written: they mean nothing elsewhere. */
abstract sealed class ArchiveWriter {

  private static final int PERMISSIONS = 0777;

  /** Each byte as one character. */
  private static String octets(List<FileName> names) {
    return names.stream()
        .map(n -> new String(n.bytes(), StandardCharsets.ISO_8859_1))
        .collect(Collectors.joining("/"));
  }

  static ArchiveWriter of(ArchiveFormat format, OutputStream out) {
    try {
      return switch (format) {
        case TAR_GZ -> new Tar(out);
        case ZIP -> new Zip(out);
      };
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  abstract void directory(List<FileName> names, FileStat stat) throws IOException;

  abstract void link(List<FileName> names, FileStat stat, byte[] target) throws IOException;

  /** Exactly the bytes of {@code stat.size()} follow. */
  abstract void beginFile(List<FileName> names, FileStat stat) throws IOException;

  abstract ArchiveOutputStream<? extends ArchiveEntry> out();

  void content(byte[] piece, int length) throws IOException {
    out().write(piece, 0, length);
  }

  void endFile() throws IOException {
    out().closeArchiveEntry();
  }

  void finish() throws IOException {
    out().finish();
    out().close();
  }

  /** Gives back what a writer that is not finished holds outside the heap. */
  abstract void abandon();

  private static final class Tar extends ArchiveWriter {

    private final GzipCompressorOutputStream gzip;
    private final TarArchiveOutputStream tar;

    Tar(OutputStream out) throws IOException {
      var parameters = new GzipParameters();
      parameters.setCompressionLevel(Deflater.BEST_SPEED);
      gzip = new GzipCompressorOutputStream(out, parameters);
      // Each byte of a name as one character, so that names go through as they are.
      tar = new TarArchiveOutputStream(gzip, StandardCharsets.ISO_8859_1.name());
      tar.setBigNumberMode(TarArchiveOutputStream.BIGNUMBER_STAR);
    }

    /**
     * What of a text goes into a header; the whole of one that is too long comes before it, as GNU
     * tar does. The library would try each length down to the one that fits.
     */
    private String fitting(String text, byte type) throws IOException {
      if (text.length() < TarConstants.NAMELEN) {
        return text;
      }
      byte[] whole = (text + '\0').getBytes(StandardCharsets.ISO_8859_1);
      var entry = new TarArchiveEntry(TarConstants.GNU_LONGLINK, type);
      entry.setSize(whole.length);
      tar.putArchiveEntry(entry);
      tar.write(whole);
      tar.closeArchiveEntry();
      String start = text.substring(0, TarConstants.NAMELEN - 1);
      // The library takes what ends with a slash for a directory, without content.
      return start.endsWith("/") ? start.substring(0, start.length() - 1) : start;
    }

    private TarArchiveEntry entry(String name, byte type) throws IOException {
      return new TarArchiveEntry(fitting(name, TarConstants.LF_GNUTYPE_LONGNAME), type);
    }

    private void put(TarArchiveEntry entry, FileStat stat) throws IOException {
      entry.setModTime(stat.modifiedSeconds() * 1000);
      entry.setMode(stat.mode() & PERMISSIONS);
      tar.putArchiveEntry(entry);
    }

    @Override
    void directory(List<FileName> names, FileStat stat) throws IOException {
      put(entry(octets(names) + "/", TarConstants.LF_DIR), stat);
      tar.closeArchiveEntry();
    }

    @Override
    void link(List<FileName> names, FileStat stat, byte[] target) throws IOException {
      String to = new String(target, StandardCharsets.ISO_8859_1);
      String shown = fitting(to, TarConstants.LF_GNUTYPE_LONGLINK);
      var entry = entry(octets(names), TarConstants.LF_SYMLINK);
      entry.setLinkName(shown);
      put(entry, stat);
      tar.closeArchiveEntry();
    }

    @Override
    void beginFile(List<FileName> names, FileStat stat) throws IOException {
      var entry = entry(octets(names), TarConstants.LF_NORMAL);
      entry.setSize(stat.size());
      put(entry, stat);
    }

    @Override
    ArchiveOutputStream<? extends ArchiveEntry> out() {
      return tar;
    }

    @Override
    void abandon() {
      try {
        gzip.close();
      } catch (IOException e) {
        return;
      }
    }
  }

  /** The library takes a backslash for a separator unless the entry is known to be of Unix. */
  private static final class LiteralEntry extends ZipArchiveEntry {

    LiteralEntry(String name) {
      super("-");
      setPlatform(PLATFORM_UNIX);
      setName(name);
    }
  }

  private static final class Zip extends ArchiveWriter {

    private final ZipArchiveOutputStream zip;

    Zip(OutputStream out) {
      zip = new ZipArchiveOutputStream(out);
      zip.setEncoding(RawNames.CHARSET);
      zip.setFallbackToUTF8(true);
      zip.setLevel(Deflater.BEST_SPEED);
    }

    private static String name(List<FileName> names) {
      return RawNames.text(octets(names).getBytes(StandardCharsets.ISO_8859_1));
    }

    private void put(String name, FileStat stat) throws IOException {
      var entry = new LiteralEntry(name);
      entry.setTime(stat.modifiedSeconds() * 1000);
      entry.setUnixMode((stat.mode() & PERMISSIONS) | (name.endsWith("/") ? 040000 : 0100000));
      entry.setSize(name.endsWith("/") ? 0 : stat.size());
      zip.putArchiveEntry(entry);
    }

    @Override
    void directory(List<FileName> names, FileStat stat) throws IOException {
      put(name(names) + "/", stat);
      zip.closeArchiveEntry();
    }

    @Override
    void link(List<FileName> names, FileStat stat, byte[] target) {}

    @Override
    void beginFile(List<FileName> names, FileStat stat) throws IOException {
      put(name(names), stat);
    }

    @Override
    ArchiveOutputStream<? extends ArchiveEntry> out() {
      return zip;
    }

    @Override
    void abandon() {
      try {
        zip.close();
      } catch (IOException e) {
        return;
      }
    }
  }
}
