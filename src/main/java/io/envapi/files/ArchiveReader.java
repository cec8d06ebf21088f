package io.envapi.files;

import io.envapi.linux.DataFile;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Enumeration;
import java.util.Set;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.zip.ZipArchiveEntry;
import org.apache.commons.compress.archivers.zip.ZipFile;
import org.apache.commons.compress.archivers.zip.ZipMethod;

/** Reads the entries of an archive that may be made to do harm. */
final class ArchiveReader {

  /** The largest directory of a zip, in bytes. */
  private static final long ZIP_DIRECTORY = 16L << 20;

  /** What is done with the entries. */
  interface Visitor {

    void directory(ArchivePath name, int mode) throws IOException;

    void file(ArchivePath name, int mode, InputStream content) throws IOException;

    /** A symbolic link. */
    void link(ArchivePath name, ArchivePath target) throws IOException;

    /** Another name of a file that came before. */
    void hardLink(ArchivePath name, ArchivePath target) throws IOException;

    /** A device, or whatever else. */
    void other(ArchivePath name) throws IOException;
  }

  private static final int FILE_MODE = 0644;
  private static final int DIRECTORY_MODE = 0755;
  private static final int FILE_TYPE = 0170000;
  private static final int REGULAR = 0100000;
  private static final int SYMLINK = 0120000;
  private static final int LONGEST_LINK = 4096;

  /** Those whose readers need no library of their own. */
  private static final Set<Integer> ZIP_METHODS =
      Set.of(
          ZipMethod.STORED.getCode(),
          ZipMethod.DEFLATED.getCode(),
          ZipMethod.ENHANCED_DEFLATED.getCode(),
          ZipMethod.BZIP2.getCode());

  /** The signature of an entry before its content, and where its name is from there. */
  private static final int ZIP_ENTRY = 0x04034b50;

  private static final int ZIP_NAME_LENGTH_AT = 26;
  private static final int ZIP_NAME_AT = 30;

  /** The signatures of the end of the directory, of that of a large one, and of its signature. */
  private static final Set<Integer> ZIP_ENDS = Set.of(0x06054b50, 0x06064b50, 0x05054b50);

  private ArchiveReader() {}

  static void read(ArchiveFormat format, DataFile file, long size, Visitor visitor)
      throws IOException {
    switch (format) {
      case TAR_GZ -> readTar(new ArchiveInput(file, size), visitor);
      case ZIP -> readZip(new ArchiveInput(file, size), visitor);
    }
  }

  private static void readTar(ArchiveInput input, Visitor visitor) throws IOException {
    try (var tar = new TarInput(new BudgetInput(new GzipInput(input)))) {
      for (var entry = tar.next(); entry.isPresent(); entry = tar.next()) {
        visit(tar, entry.get(), visitor);
      }
    }
  }

  private static void visit(TarInput tar, TarInput.Entry entry, Visitor visitor)
      throws IOException {
    TarArchiveEntry header = entry.header();
    if (header.isSymbolicLink()) {
      visitor.link(entry.name(), entry.target());
    } else if (header.isLink()) {
      visitor.hardLink(entry.name(), entry.target());
    } else if (header.isDirectory()) {
      visitor.directory(entry.name(), header.getMode());
    } else if (header.isFile() && !isDevice(header)) {
      visitor.file(entry.name(), header.getMode(), tar);
    } else {
      visitor.other(entry.name());
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
            .setCharset(StandardCharsets.ISO_8859_1)
            .setIgnoreLocalFileHeader(true)
            .get()) {
      requireWholeDirectory(input);
      input.allow(Long.MAX_VALUE);
      Enumeration<ZipArchiveEntry> entries = zip.getEntriesInPhysicalOrder();
      while (entries.hasMoreElements()) {
        ZipArchiveEntry entry = entries.nextElement();
        requireSameName(input, entry);
        visit(zip, entry, visitor);
      }
    }
  }

  /** Names have no checksum, but are there twice. */
  private static void requireSameName(ArchiveInput input, ZipArchiveEntry entry)
      throws IOException {
    byte[] name = entry.getRawName();
    input.position(entry.getLocalHeaderOffset());
    ByteBuffer header = littleEndian(input, ZIP_NAME_AT + name.length);
    boolean same =
        header.getInt(0) == ZIP_ENTRY
            && header.getShort(ZIP_NAME_LENGTH_AT) == (short) name.length
            && header.slice(ZIP_NAME_AT, name.length).equals(ByteBuffer.wrap(name));
    if (!same) {
      throw new IOException("an entry is not the one in the directory");
    }
  }

  private static ByteBuffer littleEndian(ArchiveInput input, int length) throws IOException {
    byte[] bytes = new byte[length];
    input.readNBytes(bytes, 0, length);
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** The library takes whatever is no entry for the directory's end, and has just read that. */
  private static void requireWholeDirectory(ArchiveInput input) throws IOException {
    input.position(input.position() - Integer.BYTES);
    if (!ZIP_ENDS.contains(littleEndian(input, Integer.BYTES).getInt())) {
      throw new IOException("the directory of the zip is wrong");
    }
  }

  private static void visit(ZipFile zip, ZipArchiveEntry entry, Visitor visitor)
      throws IOException {
    ArchivePath name = name(entry);
    int mode = entry.getUnixMode();
    if (name.isDirectory() && !entry.isUnixSymlink()) {
      visitor.directory(name, mode == 0 ? DIRECTORY_MODE : mode);
      return;
    }
    try (InputStream content = content(zip, entry)) {
      switch (mode & FILE_TYPE) {
        case SYMLINK -> visitor.link(name, target(content));
        case 0, REGULAR -> visitor.file(name, mode == 0 ? FILE_MODE : mode, content);
        default -> visitor.other(name);
      }
    }
  }

  private static InputStream content(ZipFile zip, ZipArchiveEntry entry) throws IOException {
    if (!zip.canReadEntryData(entry) || !ZIP_METHODS.contains(entry.getMethod())) {
      throw new IOException("an entry cannot be read");
    }
    return new ZipContent(zip.getInputStream(entry), entry);
  }

  private static ArchivePath target(InputStream content) throws IOException {
    byte[] target = content.readNBytes(LONGEST_LINK + 1);
    if (target.length > LONGEST_LINK) {
      throw new IOException("the target of a link is too long");
    }
    return ArchivePath.of(target);
  }

  /** The bytes; those that are marked as UTF-8 must be that. */
  private static ArchivePath name(ZipArchiveEntry entry) throws IOException {
    byte[] name = entry.getRawName();
    boolean text = new Utf8Scan().accept(name, 0, name.length).isText();
    if (!text && entry.getGeneralPurposeBit().usesUTF8ForNames()) {
      throw new IOException("the name of an entry is no UTF-8, as it should be");
    }
    ArchivePath path = ArchivePath.of(name);
    boolean dos = entry.getPlatform() == ZipArchiveEntry.PLATFORM_FAT;
    // Writers on Windows that separate names by backslashes do so everywhere.
    return dos && text && path.parts().size() == 1
        ? new ArchivePath(path.octets().replace('\\', '/'))
        : path;
  }
}
