package io.envapi.files;

import io.envapi.linux.DataFile;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.NonWritableChannelException;
import java.nio.channels.SeekableByteChannel;

/**
 * An archive as the libraries want it. They keep headers and directories of an archive in memory
 * without a bound; {@link #allow} bounds what they may read meanwhile.
 */
final class ArchiveInput extends InputStream implements SeekableByteChannel {

  private final DataFile file;
  private final long size;
  private long position;
  private long marked;
  private long left = Long.MAX_VALUE;

  ArchiveInput(DataFile file, long size) {
    this.file = file;
    this.size = size;
  }

  /** From now on. */
  void allow(long bytes) {
    left = bytes;
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] target, int offset, int length) throws IOException {
    if (length == 0) {
      return 0;
    }
    int read = file.read(target, offset, Math.min(length, FileBytes.MOST), position);
    position += read;
    left -= read;
    if (left < 0) {
      throw new IOException("the directory of the archive is too long");
    }
    return read == 0 ? -1 : read;
  }

  @Override
  public int read(ByteBuffer target) throws IOException {
    if (!target.hasRemaining()) {
      return 0;
    }
    byte[] bytes = new byte[Math.min(target.remaining(), FileBytes.MOST)];
    int read = read(bytes, 0, bytes.length);
    if (read > 0) {
      target.put(bytes, 0, read);
    }
    return read;
  }

  @Override
  public boolean markSupported() {
    return true;
  }

  @Override
  public synchronized void mark(int most) {
    marked = position;
  }

  @Override
  public synchronized void reset() {
    position = marked;
  }

  @Override
  public int write(ByteBuffer source) {
    throw new NonWritableChannelException();
  }

  @Override
  public long position() {
    return position;
  }

  @Override
  public SeekableByteChannel position(long to) {
    position = to;
    return this;
  }

  @Override
  public long size() {
    return size;
  }

  @Override
  public SeekableByteChannel truncate(long to) {
    throw new NonWritableChannelException();
  }

  @Override
  public boolean isOpen() {
    return true;
  }

  /** The file is its owner's to close. */
  @Override
  public void close() {}
}
