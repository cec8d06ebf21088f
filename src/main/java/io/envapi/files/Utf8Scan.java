package io.envapi.files;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Decides, piece by piece, whether bytes are text: valid UTF-8 (RFC 3629) without NUL. Runs of
 * ASCII are checked eight bytes at a time.
 */
final class Utf8Scan {

  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());
  private static final long HIGH_BITS = 0x8080808080808080L;
  private static final long ONES = 0x0101010101010101L;

  private boolean text = true;

  /** Continuation bytes still due, and what the next one may be. */
  private int due;

  private int lowest;
  private int highest;

  /** Whether all so far is text and ends with a whole character. */
  boolean isText() {
    return text && due == 0;
  }

  Utf8Scan accept(byte[] bytes, int offset, int length) {
    int at = offset;
    int end = offset + length;
    while (text && at < end) {
      if (due == 0) {
        at = skipAscii(bytes, at, end);
        if (at == end) {
          break;
        }
      }
      step(bytes[at++] & 0xff);
    }
    return this;
  }

  private static int skipAscii(byte[] bytes, int from, int end) {
    int at = from;
    while (at + Long.BYTES <= end) {
      long eight = (long) LONGS.get(bytes, at);
      boolean zero = ((eight - ONES) & ~eight & HIGH_BITS) != 0;
      if (zero || (eight & HIGH_BITS) != 0) {
        break;
      }
      at += Long.BYTES;
    }
    while (at < end && bytes[at] > 0) {
      at++;
    }
    return at;
  }

  private void step(int value) {
    if (due > 0) {
      if (value < lowest || value > highest) {
        text = false;
      }
      due--;
      lowest = 0x80;
      highest = 0xbf;
    } else if (value == 0) {
      text = false;
    } else if (value >= 0x80) {
      lead(value);
    }
  }

  private void lead(int value) {
    lowest = 0x80;
    highest = 0xbf;
    if (value >= 0xc2 && value <= 0xdf) {
      due = 1;
    } else if (value >= 0xe0 && value <= 0xef) {
      due = 2;
      lowest = value == 0xe0 ? 0xa0 : 0x80;
      highest = value == 0xed ? 0x9f : 0xbf;
    } else if (value >= 0xf0 && value <= 0xf4) {
      due = 3;
      lowest = value == 0xf0 ? 0x90 : 0x80;
      highest = value == 0xf4 ? 0x8f : 0xbf;
    } else {
      text = false;
    }
  }

  /** The length of the character that starts at {@code at}; 0 when none does. */
  static int characterLength(byte[] bytes, int at) {
    Utf8Scan scan = new Utf8Scan();
    for (int length = 1; length <= 4 && at + length <= bytes.length; length++) {
      scan.accept(bytes, at + length - 1, 1);
      if (scan.isText()) {
        return length;
      }
    }
    return 0;
  }

  /** Whether a byte can only be inside a character. */
  static boolean isContinuation(byte value) {
    return (value & 0xc0) == 0x80;
  }
}
