package io.envapi.files;

import java.io.IOException;
import java.io.InputStream;
import org.apache.commons.compress.compressors.gzip.GzipCompressorInputStream;

/**
 * What is in a gzip file, to its end: one member after another, each checked against its checksum
 * and its length. After them there may be zeros alone, as for gzip(1).
 */
final class GzipInput extends InputStream {

  /** The largest header of a member, which has texts of any length, in bytes. */
  private static final long HEADER = 64L << 10;

  private final ArchiveInput input;
  private GzipCompressorInputStream member;
  private boolean ended;

  GzipInput(ArchiveInput input) throws IOException {
    this.input = input;
    this.member = begin();
  }

  private GzipCompressorInputStream begin() throws IOException {
    input.allow(HEADER);
    var begun =
        GzipCompressorInputStream.builder()
            .setInputStream(input)
            .setBufferSize(FileBytes.MOST)
            .setDecompressConcatenated(false)
            .get();
    input.allow(Long.MAX_VALUE);
    return begun;
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] target, int offset, int length) throws IOException {
    while (!ended) {
      int read = member.read(target, offset, length);
      if (read >= 0) {
        return read;
      }
      next();
    }
    return -1;
  }

  private void next() throws IOException {
    input.mark(1);
    int first = input.read();
    input.reset();
    if (first > 0) {
      member.close();
      member = begin();
    } else {
      Zeros.require(input);
      ended = true;
    }
  }

  @Override
  public void close() throws IOException {
    member.close();
  }
}
