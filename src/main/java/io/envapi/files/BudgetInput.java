package io.envapi.files;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;

/**
 * Input that ends with an error after so many bytes. A library keeps the headers of an archive in
 * memory whatever their size; while it reads them, this bounds it.
 */
final class BudgetInput extends FilterInputStream {

  private long left = Long.MAX_VALUE;
  private boolean ended;

  BudgetInput(InputStream in) {
    super(in);
  }

  /** From now on. */
  void allow(long bytes) {
    left = bytes;
  }

  /** Whether more was wanted than there is. */
  boolean hasEnded() {
    return ended;
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] target, int offset, int length) throws IOException {
    int read = super.read(target, offset, (int) Math.min(length, Math.max(1, left)));
    ended |= read < 0;
    spend(Math.max(0, read));
    return read;
  }

  @Override
  public long skip(long bytes) throws IOException {
    long skipped = super.skip(Math.min(bytes, Math.max(1, left)));
    spend(skipped);
    return skipped;
  }

  private void spend(long bytes) throws IOException {
    if (bytes > left) {
      throw new IOException("a header is too long");
    }
    left -= bytes;
  }

  @Override
  public boolean markSupported() {
    return false;
  }
}
