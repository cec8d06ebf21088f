package io.envapi.files;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;

/**
 * A pattern of git as a regular expression, for time that grows with pattern times path. Both are
 * of bytes, each a character of Latin-1: for git {@code ?} is one byte.
 */
final class GitGlob {

  private static final String SPECIAL = "*?[\\";

  private final String glob;

  /** How many characters at the start are none of {@link #SPECIAL}. */
  private final int plain;

  private final StringBuilder regex = new StringBuilder();
  private int at;

  private GitGlob(String glob) {
    this.glob = glob;
    this.plain = (int) glob.chars().takeWhile(c -> SPECIAL.indexOf(c) < 0).count();
  }

  /**
   * The expression for the whole of a path.
   *
   * @throws PatternSyntaxException when it is no pattern, so that it matches nothing
   */
  static String regex(String glob) {
    GitGlob reading = new GitGlob(glob);
    while (reading.at < glob.length()) {
      reading.read();
    }
    return reading.regex.toString();
  }

  private void read() {
    switch (glob.charAt(at)) {
      case '*' -> readStars();
      case '?' -> append("[^/]", at + 1);
      case '[' -> {
        GitBracket bracket = GitBracket.at(glob, at);
        append(bracket.regex(), bracket.end());
      }
      case '\\' -> {
        at++;
        readLiteral();
      }
      default -> readLiteral();
    }
  }

  private void readLiteral() {
    if (at == glob.length()) {
      throw new PatternSyntaxException("nothing is quoted", glob);
    }
    append(Pattern.quote(glob.substring(at, at + 1)), at + 1);
  }

  private void readStars() {
    int end = at;
    while (end < glob.length() && glob.charAt(end) == '*') {
      end++;
    }
    if (!isAnyDirectories(end)) {
      append("[^/]*", end);
    } else if (glob.startsWith("/", end)) {
      append("(?:.*/)?", end + 1);
    } else {
      append(".*", end);
    }
  }

  /**
   * Two stars and more pass slashes between slashes only. Git compares what is plain at the start
   * before it looks for stars, and so takes the end of that for a start too.
   */
  private boolean isAnyDirectories(int end) {
    boolean starts = at == plain || glob.charAt(at - 1) == '/';
    boolean ends = end == glob.length() || glob.startsWith("/", end) || glob.startsWith("\\/", end);
    return end - at > 1 && starts && ends;
  }

  private void append(String part, int next) {
    regex.append(part);
    at = next;
  }
}
