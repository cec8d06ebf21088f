package io.envapi.files;

import com.google.re2j.PatternSyntaxException;
import java.util.BitSet;
import java.util.function.IntPredicate;

/**
 * A bracket of a pattern of git: the bytes it matches, which never are the slash. A {@code ]} that
 * comes first is in it, {@code \} quotes, and the classes are those of ASCII.
 */
final class GitBracket {

  private static final int BYTES = 256;

  private final String glob;
  private final BitSet bytes = new BitSet(BYTES);
  private int at;

  /** What a range may start from; 0 where none may. */
  private int last;

  private GitBracket(String glob, int at) {
    this.glob = glob;
    this.at = at;
  }

  /**
   * Reads the bracket that opens at {@code at}.
   *
   * @throws PatternSyntaxException when it is none, so that the whole pattern matches nothing
   */
  static GitBracket at(String glob, int at) {
    GitBracket bracket = new GitBracket(glob, at + 1);
    bracket.read();
    return bracket;
  }

  /** The place behind the bracket. */
  int end() {
    return at;
  }

  String regex() {
    var regex = new StringBuilder("[");
    for (int from = bytes.nextSetBit(0); from >= 0; from = bytes.nextSetBit(from)) {
      int end = bytes.nextClearBit(from);
      regex.append(String.format("\\x{%x}-\\x{%x}", from, end - 1));
      from = end;
    }
    return regex.append(']').toString();
  }

  private void read() {
    boolean negated = isNext('!') || isNext('^');
    at += negated ? 1 : 0;
    do {
      readMember(take());
    } while (!isNext(']'));
    at++;
    if (negated) {
      bytes.flip(0, BYTES);
    }
    bytes.clear('/');
    if (bytes.isEmpty()) {
      throw malformed();
    }
  }

  private void readMember(char next) {
    if (next == '-' && last > 0 && at < glob.length() && !isNext(']')) {
      char to = take();
      range(last, to == '\\' ? take() : to);
      last = 0;
    } else if (next == '[' && isNext(':') && isClass()) {
      readClass();
      last = 0;
    } else {
      last = next == '\\' ? take() : next;
      bytes.set(last);
    }
  }

  private void range(int from, int to) {
    if (from <= to) {
      bytes.set(from, to + 1);
    }
  }

  /** Whether the colon that is next begins a name which another ends. */
  private boolean isClass() {
    int close = glob.indexOf(']', at);
    if (close < 0) {
      throw malformed();
    }
    return close > at + 1 && glob.charAt(close - 1) == ':';
  }

  private void readClass() {
    int close = glob.indexOf(']', at);
    IntPredicate members = members(glob.substring(at + 1, close - 1));
    for (int each = 0; each < BYTES; each++) {
      if (members.test(each)) {
        bytes.set(each);
      }
    }
    at = close + 1;
  }

  private IntPredicate members(String name) {
    return switch (name) {
      case "alnum" -> GitBracket::isAlphanumeric;
      case "alpha" -> c -> isUpper(c) || isLower(c);
      case "blank" -> c -> c == ' ' || c == '\t';
      case "cntrl" -> c -> c < ' ' || c == 0x7f;
      case "digit" -> GitBracket::isDigit;
      case "graph" -> GitBracket::isGraphic;
      case "lower" -> GitBracket::isLower;
      case "print" -> c -> c == ' ' || isGraphic(c);
      case "punct" -> c -> isGraphic(c) && !isAlphanumeric(c);
      case "space" -> c -> c == ' ' || c == '\t' || c == '\n' || c == '\r';
      case "upper" -> GitBracket::isUpper;
      case "xdigit" -> c -> isDigit(c) || "abcdefABCDEF".indexOf(c) >= 0;
      default -> throw malformed();
    };
  }

  private static boolean isAlphanumeric(int c) {
    return isDigit(c) || isUpper(c) || isLower(c);
  }

  private static boolean isDigit(int c) {
    return '0' <= c && c <= '9';
  }

  private static boolean isLower(int c) {
    return 'a' <= c && c <= 'z';
  }

  private static boolean isUpper(int c) {
    return 'A' <= c && c <= 'Z';
  }

  private static boolean isGraphic(int c) {
    return ' ' < c && c < 0x7f;
  }

  private boolean isNext(char expected) {
    return at < glob.length() && glob.charAt(at) == expected;
  }

  private char take() {
    if (at == glob.length()) {
      throw malformed();
    }
    return glob.charAt(at++);
  }

  private PatternSyntaxException malformed() {
    return new PatternSyntaxException("no bracket", glob);
  }
}
