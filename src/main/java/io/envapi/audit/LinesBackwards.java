package io.envapi.audit;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.Arrays;
import java.util.Optional;

/** The lines of a file from its end to its start, in memory bounded by the longest line. */
final class LinesBackwards {

  private static final int BLOCK_BYTES = 64 * 1024;

  private final FileChannel file;
  // Held of the file and not yet given out: what is from offset start on, the first `end` bytes.
  private long start;
  private byte[] held = new byte[0];
  private int end;
  private boolean done;

  LinesBackwards(FileChannel file) throws IOException {
    this.file = file;
    this.start = file.size();
  }

  /** The line before the one given last, without its end; empty at the start of the file. */
  Optional<byte[]> next() throws IOException {
    while (!done) {
      int newline = lastNewline();
      if (newline < 0 && start > 0) {
        readBlock();
        continue;
      }
      byte[] line = Arrays.copyOfRange(held, newline + 1, end);
      done = newline < 0;
      end = Math.max(newline, 0);
      return Optional.of(line);
    }
    return Optional.empty();
  }

  private int lastNewline() {
    int i = end - 1;
    while (i >= 0 && held[i] != '\n') {
      i--;
    }
    return i;
  }

  private void readBlock() throws IOException {
    int size = (int) Math.min(BLOCK_BYTES, start);
    ByteBuffer block = ByteBuffer.allocate(size + end);
    block.limit(size);
    while (block.hasRemaining()) {
      if (file.read(block, start - size + block.position()) < 0) {
        throw new IOException("the file became shorter");
      }
    }
    block.limit(block.capacity());
    block.put(held, 0, end);
    held = block.array();
    end = held.length;
    start -= size;
  }
}
