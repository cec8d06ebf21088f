package io.envapi.files;

import io.envapi.failure.Failure;
import io.envapi.linux.DataFile;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;

/** One pass over a whole file: its tag, whether it is text, and the bytes of one window. */
final class ContentScan {

  /** The largest file that is scanned, in bytes: about two seconds of a blocking thread. */
  static final long LARGEST = 1L << 30;

  private static final int PIECE = 256 * 1024;

  /**
   * What the whole file is.
   *
   * @param size the bytes read, which is what the tag is about
   * @param etag SHA-256 in hex, quoted
   */
  record Scanned(long size, String etag, boolean text) {}

  private ContentScan() {}

  static Scanned scan(DataFile file) {
    return scan(file, new Window(0, 0));
  }

  /** Refuses a file over {@link #LARGEST}, also one that grows past it meanwhile. */
  static Scanned scan(DataFile file, Window window) {
    refuseLarge(file.stat().size());
    MessageDigest digest = sha256();
    Utf8Scan text = new Utf8Scan();
    byte[] piece = new byte[PIECE];
    long position = 0;
    while (true) {
      int read = file.read(piece, 0, PIECE, position);
      if (read == 0) {
        return new Scanned(position, quoted(digest), text.isText());
      }
      digest.update(piece, 0, read);
      text.accept(piece, 0, read);
      window.accept(piece, read, position);
      position += read;
      refuseLarge(position);
    }
  }

  private static void refuseLarge(long size) {
    if (size > LARGEST) {
      throw new Refusal(new Failure.TooLarge(size));
    }
  }

  /** The whole file, refused when it is larger than {@code limit} bytes. */
  static byte[] readAll(DataFile file, long limit) {
    long size = file.stat().size();
    if (size > limit) {
      throw new Refusal(new Failure.TooLarge(size));
    }
    byte[] content = new byte[(int) size + 1];
    int filled = 0;
    while (true) {
      int read = file.read(content, filled, Math.min(PIECE, content.length - filled), filled);
      if (read == 0) {
        return Arrays.copyOf(content, filled);
      }
      filled += read;
      if (filled > limit) {
        throw new Refusal(new Failure.TooLarge(filled));
      }
      if (filled == content.length) {
        content = Arrays.copyOf(content, (int) Math.min(limit + 1, filled * 2L));
      }
    }
  }

  static String etag(byte[] content) {
    MessageDigest digest = sha256();
    digest.update(content);
    return quoted(digest);
  }

  static String quoted(MessageDigest digest) {
    return '"' + HexFormat.of().formatHex(digest.digest()) + '"';
  }

  static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError(e);
    }
  }

  /** The bytes of a scan that are to be kept: at most {@code limit} from {@code offset} on. */
  static final class Window {
    private final long offset;
    private final int limit;
    private byte[] bytes = new byte[0];
    private int filled;

    Window(long offset, int limit) {
      this.offset = offset;
      this.limit = limit;
    }

    void accept(byte[] piece, int length, long position) {
      long skip = Math.max(0, offset - position);
      if (skip >= length || filled == limit) {
        return;
      }
      int taken = (int) Math.min(length - skip, limit - filled);
      if (filled + taken > bytes.length) {
        bytes = Arrays.copyOf(bytes, (int) Math.min(limit, (filled + taken) * 2L));
      }
      System.arraycopy(piece, (int) skip, bytes, filled, taken);
      filled += taken;
    }

    /** Reads just the window, of a file of {@code size} bytes. */
    void fill(DataFile file, long size) {
      byte[] piece = new byte[PIECE];
      long end = Math.min(size, offset + limit);
      long position = offset;
      while (position < end) {
        int read = file.read(piece, 0, (int) Math.min(PIECE, end - position), position);
        if (read == 0) {
          return;
        }
        accept(piece, read, position);
        position += read;
      }
    }

    void clear() {
      filled = 0;
    }

    byte[] bytes() {
      return Arrays.copyOf(bytes, filled);
    }
  }
}
