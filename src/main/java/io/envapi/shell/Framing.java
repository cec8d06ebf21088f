package io.envapi.shell;

import io.envapi.sandbox.Launch;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.apache.pekko.util.ByteString;

/**
 * Tells the frames that end commands from everything else a shell prints.
 *
 * <p>A frame is {@code 0x1E <nonce> ":" <status> 0x1E}, where the nonce is 128 random bits in hex,
 * new for every command. Anything else, another nonce included, is ordinary output and passes
 * through byte for byte. Bytes are held back only while they may still become the awaited frame.
 */
final class Framing {

  private static final SecureRandom RANDOM = new SecureRandom();
  private static final byte MARK = 0x1E;
  private static final int LONGEST_STATUS = 3;

  /** What a piece of the stream turned out to be. */
  sealed interface Piece {}

  /** Ordinary output. */
  record Output(ByteString bytes) implements Piece {}

  /** The end of the awaited command. */
  record End(int status) implements Piece {}

  /** Set by whoever writes a command, read by the thread that reads the output. */
  private volatile byte[] awaited = new byte[0];

  private ByteString held = ByteString.emptyByteString();

  static String nonce() {
    byte[] bytes = new byte[16];
    RANDOM.nextBytes(bytes);
    return HexFormat.of().formatHex(bytes);
  }

  /** The shell code that prints the frame of {@code nonce} with the status of what ran before. */
  static String epilogue(String nonce) {
    return epilogue(nonce, "");
  }

  /** As {@link #epilogue}, and prints nothing when {@code descriptor} is not open for reading. */
  static String epilogueWith(int descriptor, String nonce) {
    return epilogue(nonce, " <&" + descriptor);
  }

  private static String epilogue(String nonce, String needs) {
    return "{ \\builtin printf '\\036%s:%d\\036' "
        + nonce
        + (" $? >&" + Launch.FRAMES + needs)
        + "; } 2>/dev/null\n";
  }

  /** From now on a frame of {@code nonce} ends a command. */
  void await(String nonce) {
    awaited = ('\u001e' + nonce + ':').getBytes(StandardCharsets.US_ASCII);
  }

  /** The pieces that {@code bytes} complete, in order. */
  List<Piece> feed(ByteString bytes) {
    if (awaited.length == 0 || (held.isEmpty() && bytes.indexOf(MARK) < 0)) {
      return List.of(new Output(bytes));
    }
    ByteString data = held.isEmpty() ? bytes : held.concat(bytes);
    held = ByteString.emptyByteString();
    return scan(data.toArrayUnsafe());
  }

  /** What was held back, when nothing more will come. */
  ByteString flush() {
    ByteString rest = held;
    held = ByteString.emptyByteString();
    return rest;
  }

  private List<Piece> scan(byte[] data) {
    List<Piece> pieces = new ArrayList<>(3);
    int done = 0;
    int at = 0;
    while (at < data.length) {
      if (data[at] != MARK || awaited.length == 0) {
        at++;
        continue;
      }
      int length = frameLength(data, at);
      if (length == INCOMPLETE) {
        held = slice(data, at, data.length);
        emit(pieces, data, done, at);
        return pieces;
      }
      if (length == NO_FRAME) {
        at++;
        continue;
      }
      emit(pieces, data, done, at);
      pieces.add(new End(status(data, at + awaited.length)));
      awaited = new byte[0];
      at += length;
      done = at;
    }
    emit(pieces, data, done, data.length);
    return pieces;
  }

  private static final int INCOMPLETE = -1;
  private static final int NO_FRAME = 0;

  /** The length of the frame at {@code at}, or whether there is none, or not yet. */
  private int frameLength(byte[] data, int at) {
    for (int i = 0; i < awaited.length; i++) {
      if (at + i == data.length) {
        return INCOMPLETE;
      }
      if (data[at + i] != awaited[i]) {
        return NO_FRAME;
      }
    }
    for (int digits = 0; ; digits++) {
      int i = at + awaited.length + digits;
      if (i == data.length) {
        return INCOMPLETE;
      }
      if (data[i] == MARK) {
        return digits == 0 ? NO_FRAME : awaited.length + digits + 1;
      }
      if (data[i] < '0' || data[i] > '9' || digits == LONGEST_STATUS) {
        return NO_FRAME;
      }
    }
  }

  private static int status(byte[] data, int from) {
    int status = 0;
    for (int i = from; data[i] != MARK; i++) {
      status = status * 10 + (data[i] - '0');
    }
    return status;
  }

  private static void emit(List<Piece> pieces, byte[] data, int from, int to) {
    if (to > from) {
      pieces.add(new Output(slice(data, from, to)));
    }
  }

  private static ByteString slice(byte[] data, int from, int to) {
    return ByteString.fromArrayUnsafe(data, from, to - from);
  }
}
