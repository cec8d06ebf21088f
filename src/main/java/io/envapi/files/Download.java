package io.envapi.files;

import java.util.Arrays;

/** An open file that leaves in pieces. */
final class Download implements OpenTransfer {

  private final SentPath path;
  private final WorkspaceRoot.Opened opened;
  private boolean closed;

  Download(SentPath path, WorkspaceRoot.Opened opened) {
    this.path = path;
    this.opened = opened;
  }

  @Override
  public SentPath path() {
    return path;
  }

  @Override
  public synchronized TransferAnswer read(TransferStep.Read read) {
    if (closed || read.offset() < 0) {
      throw Refusal.conflict("the transfer has ended");
    }
    byte[] bytes = new byte[Math.clamp(read.length(), 0, FileBytes.MOST_LOCAL)];
    int filled = 0;
    while (filled < bytes.length) {
      int got = opened.file().read(bytes, filled, bytes.length - filled, read.offset() + filled);
      if (got == 0) {
        break;
      }
      filled += got;
    }
    return new TransferAnswer.Piece(
        new FileBytes(filled == bytes.length ? bytes : Arrays.copyOf(bytes, filled)));
  }

  @Override
  public synchronized void close() {
    closed = true;
    opened.close();
  }
}
