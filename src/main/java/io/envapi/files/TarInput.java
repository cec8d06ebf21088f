package io.envapi.files;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.apache.commons.compress.archivers.tar.TarConstants;
import org.apache.commons.compress.archivers.tar.TarUtils;
import org.apache.commons.compress.utils.ArchiveUtils;

/**
 * The entries of a tar, with the bytes of their names, which the library takes for text. Refuses
 * what the library passes over: headers with a wrong checksum or cut off, and entries that are.
 */
final class TarInput extends TarArchiveInputStream {

  /** An entry whose content this stream is at. */
  record Entry(TarArchiveEntry header, ArchivePath name, ArchivePath target) {}

  /** The largest header of one entry, with its long names, in bytes. */
  private static final long HEADER = 1 << 20;

  /** The most that may pad a tar, in bytes. */
  private static final long PADDING = 64L << 20;

  private static final int BLOCK = TarConstants.DEFAULT_RCDSIZE;
  private static final int TYPE_AT = 156;
  private static final int GNU_AT = 262;
  private static final int GNU_EXTENDED_AT = 482;
  private static final int SPARSE_EXTENDED_AT = 504;

  private final BudgetInput input;
  private final ByteArrayOutputStream content = new ByteArrayOutputStream();
  private final Map<String, byte[]> everywhere = new HashMap<>();
  private final Map<String, byte[]> records = new HashMap<>();
  private Optional<byte[]> longName = Optional.empty();
  private Optional<byte[]> longTarget = Optional.empty();
  private byte type;
  private boolean amongHeaders;
  private boolean mapGoesOn;
  private boolean ended;

  TarInput(BudgetInput input) {
    super(input, BLOCK, BLOCK, StandardCharsets.ISO_8859_1.name());
    this.input = input;
  }

  /** The next one, behind what is left of the current one. */
  Optional<Entry> next() throws IOException {
    finishEntry();
    input.allow(HEADER);
    amongHeaders = true;
    TarArchiveEntry header = getNextEntry();
    amongHeaders = false;
    if (header == null) {
      finish();
      return Optional.empty();
    }
    input.allow(Long.MAX_VALUE);
    return Optional.of(new Entry(header, name(header), target(header)));
  }

  /** What is left of an entry is not the next one's header. */
  private void finishEntry() throws IOException {
    if (getCurrentEntry() != null) {
      skip(Long.MAX_VALUE);
      if (input.hasEnded()) {
        throw new IOException("the tar ends in an entry");
      }
    }
    records.clear();
    longName = Optional.empty();
    longTarget = Optional.empty();
  }

  private void finish() throws IOException {
    if (isAhead()) {
      throw new IOException("the tar ends where an entry is due");
    }
    // A tar without entries has two empty blocks; what ends sooner was taken for one.
    if (getBytesRead() < BLOCK) {
      throw new IOException("not a tar");
    }
    input.allow(PADDING);
    Zeros.require(input);
  }

  private ArchivePath name(TarArchiveEntry header) {
    return Optional.of("GNU.sparse.name")
        .filter(_ -> header.isPaxGNUSparse())
        .flatMap(this::record)
        .or(() -> record("path"))
        .or(() -> longName)
        .map(ArchivePath::of)
        .orElseGet(() -> new ArchivePath(header.getName()));
  }

  private ArchivePath target(TarArchiveEntry header) {
    return record("linkpath")
        .or(() -> longTarget)
        .map(ArchivePath::of)
        .orElseGet(() -> new ArchivePath(header.getLinkName()));
  }

  /** An empty one takes back one for the whole archive. */
  private Optional<byte[]> record(String key) {
    return Optional.ofNullable(records.getOrDefault(key, everywhere.get(key)))
        .filter(value -> value.length > 0);
  }

  /** Whether the block read last is the header of something that belongs to the next entry. */
  private boolean isAhead() {
    return switch (type) {
      case TarConstants.LF_GNUTYPE_LONGNAME,
          TarConstants.LF_GNUTYPE_LONGLINK,
          TarConstants.LF_PAX_EXTENDED_HEADER_LC,
          TarConstants.LF_PAX_EXTENDED_HEADER_UC,
          TarConstants.LF_PAX_GLOBAL_EXTENDED_HEADER ->
          true;
      default -> false;
    };
  }

  /** The library's way to the content of what is ahead of an entry too. */
  @Override
  public int read(byte[] target, int offset, int length) throws IOException {
    int read = super.read(target, offset, length);
    if (read > 0 && amongHeaders && isAhead()) {
      content.write(target, offset, read);
    }
    return read;
  }

  @Override
  protected byte[] readRecord() throws IOException {
    keepContent();
    long before = getBytesRead();
    byte[] block = super.readRecord();
    if ((getBytesRead() - before) % BLOCK != 0) {
      throw new IOException("the tar ends in a header");
    }
    if (block != null) {
      check(block);
    }
    return block;
  }

  private void keepContent() throws IOException {
    byte[] data = content.toByteArray();
    content.reset();
    switch (type) {
      case TarConstants.LF_GNUTYPE_LONGNAME -> longName = Optional.of(withoutPadding(data));
      case TarConstants.LF_GNUTYPE_LONGLINK -> longTarget = Optional.of(withoutPadding(data));
      case TarConstants.LF_PAX_EXTENDED_HEADER_LC, TarConstants.LF_PAX_EXTENDED_HEADER_UC ->
          records.putAll(PaxRecords.parse(data));
      case TarConstants.LF_PAX_GLOBAL_EXTENDED_HEADER -> everywhere.putAll(PaxRecords.parse(data));
      default -> {}
    }
  }

  private static byte[] withoutPadding(byte[] data) {
    int length = data.length;
    while (length > 0 && data[length - 1] == 0) {
      length--;
    }
    return Arrays.copyOf(data, length);
  }

  private void check(byte[] block) throws IOException {
    if (mapGoesOn) {
      // The rest of a map of holes, which has no checksum.
      mapGoesOn = block[SPARSE_EXTENDED_AT] == 1;
      return;
    }
    boolean empty = ArchiveUtils.isArrayZero(block, BLOCK);
    if (!empty && (ended || !TarUtils.verifyCheckSum(block))) {
      throw new IOException("a header is wrong");
    }
    ended = empty;
    if (!empty) {
      type = block[TYPE_AT];
      mapGoesOn =
          type == TarConstants.LF_GNUTYPE_SPARSE
              && block[GNU_AT] == ' '
              && block[GNU_EXTENDED_AT] == 1;
    }
  }
}
