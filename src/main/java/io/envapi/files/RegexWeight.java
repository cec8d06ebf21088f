package io.envapi.files;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How large the program of a regular expression gets, about: its atoms, each as often as the
 * repeats around it say. RE2/J bounds each repeat and not their product, and compiling three nested
 * ones of 1,000 takes more memory than there is.
 *
 * <p>What is no expression is weighed too; compiling it tells.
 */
final class RegexWeight {

  /** As much as an expression of some use needs, and compiled in milliseconds. */
  private static final long MOST = 10_000;

  /** At least and, if it says so, at most. */
  private static final Pattern BOUNDS = Pattern.compile("\\{([0-9]{1,9})(?:,([0-9]{1,9})?)?}");

  private final String regex;
  private int at;

  private RegexWeight(String regex) {
    this.regex = regex;
  }

  static boolean isTooHeavy(String regex) {
    return new RegexWeight(regex).alternatives() > MOST;
  }

  /** Up to the end of the group, or of all of it. */
  private long alternatives() {
    long sum = 0;
    while (at < regex.length() && regex.charAt(at) != ')' && sum <= MOST) {
      long atom = atom();
      long repeated = atom;
      for (long times = repeat(); times > 0; times = repeat()) {
        repeated = Math.min(repeated * times, MOST + 1);
      }
      sum += repeated;
    }
    return sum;
  }

  private long atom() {
    char first = regex.charAt(at++);
    return switch (first) {
      case '(' -> group();
      case '[' -> bracket();
      case '\\' -> escape();
      default -> 1;
    };
  }

  private long group() {
    long inside = 2 + alternatives();
    at++;
    return inside;
  }

  private long bracket() {
    if (at < regex.length() && regex.charAt(at) == '^') {
      at++;
    }
    // A first ] stands for itself.
    at++;
    while (at < regex.length() && regex.charAt(at) != ']') {
      if (regex.startsWith("[:", at)) {
        skipPast(":]");
      } else {
        at += regex.charAt(at) == '\\' ? 2 : 1;
      }
    }
    at++;
    return 1;
  }

  private long escape() {
    if (at >= regex.length()) {
      return 1;
    }
    char kind = regex.charAt(at++);
    boolean braced = at < regex.length() && regex.charAt(at) == '{';
    if (kind == 'Q') {
      int from = at;
      skipPast("\\E");
      return Math.max(1, at - from);
    }
    if ("pPx".indexOf(kind) >= 0 && braced) {
      skipPast("}");
    }
    return 1;
  }

  private void skipPast(String end) {
    int found = regex.indexOf(end, at);
    at = found < 0 ? regex.length() : found + end.length();
  }

  /** How often what is before it may come at least or at most; 0 when no repeat is here. */
  private long repeat() {
    if (at >= regex.length() || "*+?{".indexOf(regex.charAt(at)) < 0) {
      return 0;
    }
    if (regex.charAt(at) != '{') {
      at++;
      return 1;
    }
    Matcher bounds = BOUNDS.matcher(regex).region(at, regex.length());
    if (!bounds.lookingAt()) {
      return 0;
    }
    at = bounds.end();
    String most = bounds.group(2) == null ? bounds.group(1) : bounds.group(2);
    return Math.max(1, Long.parseLong(most));
  }
}
