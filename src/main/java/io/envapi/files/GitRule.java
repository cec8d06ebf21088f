package io.envapi.files;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import java.util.List;
import java.util.Optional;

/**
 * One line of a {@code .gitignore}.
 *
 * @param pattern for the path from the file's directory, a byte a character
 * @param nameOnly whether the pattern is for the last name of the path alone
 * @param ignored whether the line ignores what it matches, or takes that back
 */
record GitRule(Pattern pattern, boolean nameOnly, boolean ignored, boolean directoriesOnly) {

  private static final int MOST = 2000;

  /** The end of a file ends a line too. */
  private static final java.util.regex.Pattern LINE_END =
      java.util.regex.Pattern.compile("\\r?\\n|\\r\\z");

  /** U+FEFF in UTF-8, a byte a character. */
  private static final String BYTE_ORDER_MARK = "\u00ef\u00bb\u00bf";

  /**
   * The rules of a whole file; lines that are none are left out.
   *
   * @param text a byte a character
   */
  static List<GitRule> all(String text) {
    int start = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length() : 0;
    return LINE_END
        .splitAsStream(text.substring(start))
        .filter(line -> !line.startsWith("#"))
        .map(GitRule::withoutBlanks)
        .filter(line -> !line.isEmpty())
        .flatMap(line -> of(line).stream())
        .limit(MOST)
        .toList();
  }

  boolean matches(String path, boolean directory) {
    String tried = nameOnly ? path.substring(path.lastIndexOf('/') + 1) : path;
    return (directory || !directoriesOnly) && pattern.matches(tried);
  }

  /** Only blanks end a line without meaning, and one that is quoted stays. */
  private static String withoutBlanks(String line) {
    int end = 0;
    int at = 0;
    while (at < line.length()) {
      char c = line.charAt(at);
      at = Math.min(line.length(), at + (c == '\\' ? 2 : 1));
      end = c == ' ' ? end : at;
    }
    return line.substring(0, end);
  }

  private static Optional<GitRule> of(String line) {
    boolean ignored = !line.startsWith("!");
    String glob = ignored ? line : line.substring(1);
    boolean directoriesOnly = glob.endsWith("/");
    glob = directoriesOnly ? glob.substring(0, glob.length() - 1) : glob;
    boolean nameOnly = glob.indexOf('/') < 0;
    glob = glob.startsWith("/") ? glob.substring(1) : glob;
    try {
      Pattern pattern = Pattern.compile(GitGlob.regex(glob), Pattern.DOTALL);
      return Optional.of(new GitRule(pattern, nameOnly, ignored, directoriesOnly));
    } catch (PatternSyntaxException e) {
      return Optional.empty();
    }
  }
}
