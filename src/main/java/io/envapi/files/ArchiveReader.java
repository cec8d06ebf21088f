package io.envapi.files;

import io.envapi.linux.DataFile;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Enumeration;
import java.util.zip.GZIPInputStream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.apache.commons.compress.archivers.zip.ZipArchiveEntry;
import org.apache.commons.compress.archivers.zip.ZipFile;

/** Reads the entries of an archive that may be made to do harm. */
final class ArchiveReader {

  /** The largest header of one entry of a tar, with its long names, in bytes. */
  private static final long TAR_HEADER = 1 << 20;

  /** The largest directory of a zip, in bytes. */
  private static final long ZIP_DIRECTORY = 16L << 20;

  /** What is done with the entries. */
  interface Visitor {

    void directory(String name, int mode) throws IOException;

    void file(String name, int mode, InputStream content) throws IOException;

    /** A symbolic link. */
    void link(String name, String target) throws IOException;

    /** Another name of a file that came before. */
    void hardLink(String name, String target) throws IOException;

    /** A device, or whatever else. */
    void other(String name) throws IOException;
  }

  private static final int FILE_MODE = 0644;
  private static final int TAR_BLOCK = 512;
  private static final int DIRECTORY_MODE = 0755;
  private static final int LONGEST_LINK = 4096;

  private ArchiveReader() {}

  static void read(ArchiveFormat format, DataFile file, long size, Visitor visitor)
      throws IOException {
    switch (format) {
      case TAR_GZ -> readTar(new ArchiveInput(file, size), visitor);
      case ZIP -> readZip(new ArchiveInput(file, size), visitor);
    }
  }

  private static void readTar(ArchiveInput input, Visitor visitor) throws IOException {
    var bounded = new BudgetInput(new GZIPInputStream(input, FileBytes.MOST));
    try (var tar = new TarArchiveInputStream(bounded, StandardCharsets.UTF_8.name())) {
      while (true) {
        bounded.allow(TAR_HEADER);
        TarArchiveEntry entry = tar.getNextEntry();
        if (entry == null) {
          refuseNoTar(tar.getBytesRead());
          return;
        }
        bounded.allow(Long.MAX_VALUE);
        visit(tar, entry, visitor);
        // What is left of the entry is not the next one's header.
        tar.skip(Long.MAX_VALUE);
      }
    }
  }

  /** A tar without entries has two empty blocks; what ends sooner was taken for one. */
  private static void refuseNoTar(long read) throws IOException {
    if (read < TAR_BLOCK) {
      throw new IOException("not a tar");
    }
  }

  private static void visit(TarArchiveInputStream tar, TarArchiveEntry entry, Visitor visitor)
      throws IOException {
    String name = entry.getName();
    if (entry.isSymbolicLink()) {
      visitor.link(name, entry.getLinkName());
    } else if (entry.isLink()) {
      visitor.hardLink(name, entry.getLinkName());
    } else if (entry.isDirectory()) {
      visitor.directory(name, entry.getMode());
    } else if (isDevice(entry)) {
      visitor.other(name);
    } else if (entry.isFile() && tar.canReadEntryData(entry)) {
      visitor.file(name, entry.getMode(), tar);
    } else {
      visitor.other(name);
    }
  }

  /** The library takes these for files too. */
  private static boolean isDevice(TarArchiveEntry entry) {
    return entry.isFIFO() || entry.isCharacterDevice() || entry.isBlockDevice();
  }

  private static void readZip(ArchiveInput input, Visitor visitor) throws IOException {
    input.allow(ZIP_DIRECTORY);
    try (ZipFile zip =
        ZipFile.builder()
            .setSeekableByteChannel(input)
            .setCharset(StandardCharsets.UTF_8)
            .setIgnoreLocalFileHeader(true)
            .get()) {
      input.allow(Long.MAX_VALUE);
      Enumeration<ZipArchiveEntry> entries = zip.getEntriesInPhysicalOrder();
      while (entries.hasMoreElements()) {
        visit(zip, entries.nextElement(), visitor);
      }
    }
  }

  private static void visit(ZipFile zip, ZipArchiveEntry entry, Visitor visitor)
      throws IOException {
    String name = entry.getName();
    int mode = entry.getUnixMode();
    if (entry.isUnixSymlink()) {
      try (InputStream content = zip.getInputStream(entry)) {
        byte[] target = content.readNBytes(LONGEST_LINK);
        visitor.link(name, new String(target, StandardCharsets.UTF_8));
      }
    } else if (entry.isDirectory()) {
      visitor.directory(name, mode == 0 ? DIRECTORY_MODE : mode);
    } else if (!zip.canReadEntryData(entry)) {
      throw new IOException("an entry cannot be read");
    } else if ((mode & 0170000) != 0 && (mode & 0170000) != 0100000) {
      visitor.other(name);
    } else {
      try (InputStream content = zip.getInputStream(entry)) {
        visitor.file(name, mode == 0 ? FILE_MODE : mode, content);
      }
    }
  }
}
