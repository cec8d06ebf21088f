package io.envapi.files;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.zip.CRC32;
import org.apache.commons.compress.archivers.zip.ZipArchiveEntry;

/** The content of an entry that ends with an error unless it is what the directory says. */
final class ZipContent extends FilterInputStream {

  private final CRC32 sum = new CRC32();
  private final ZipArchiveEntry entry;
  private long length;

  ZipContent(InputStream content, ZipArchiveEntry entry) {
    super(content);
    this.entry = entry;
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] target, int offset, int count) throws IOException {
    int read = super.read(target, offset, count);
    if (read > 0) {
      length += read;
      sum.update(target, offset, read);
    }
    boolean wrong = read < 0 ? !isWhole() : length > entry.getSize();
    if (wrong) {
      throw new IOException("an entry is not what the directory says");
    }
    return read;
  }

  private boolean isWhole() {
    return length == entry.getSize() && sum.getValue() == entry.getCrc();
  }

  @Override
  public boolean markSupported() {
    return false;
  }
}
