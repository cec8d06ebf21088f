package io.envapi.http;

import org.apache.pekko.util.ByteString;

/** Where text can be cut without splitting a character. */
final class OutputText {

  private static final int LONGEST = 4;

  private OutputText() {}

  /** How many of the last bytes may be the beginning of a character: none, or 1 to 3. */
  static int incompleteTail(ByteString bytes) {
    int size = bytes.size();
    for (int length = 1; length < LONGEST && length <= size; length++) {
      int first = bytes.apply(size - length) & 0xff;
      if ((first & 0xc0) != 0x80) {
        return isIncomplete(bytes, size - length, length) ? length : 0;
      }
    }
    return 0;
  }

  /**
   * Whether more bytes could make the last {@code length} ones a character (Unicode, table 3-7).
   */
  private static boolean isIncomplete(ByteString bytes, int at, int length) {
    int first = bytes.apply(at) & 0xff;
    int wanted = first >= 0xf0 && first <= 0xf4 ? 4 : first >= 0xe0 && first < 0xf0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || length >= wanted) {
      return false;
    }
    return length == 1 || canFollow(first, bytes.apply(at + 1) & 0xff);
  }

  private static boolean canFollow(int first, int second) {
    return switch (first) {
      case 0xe0 -> second >= 0xa0;
      case 0xed -> second < 0xa0;
      case 0xf0 -> second >= 0x90;
      case 0xf4 -> second < 0x90;
      default -> true;
    };
  }
}
