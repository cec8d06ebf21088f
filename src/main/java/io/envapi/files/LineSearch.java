package io.envapi.files;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Finds a literal text in the lines of a file. Works on the bytes as Latin-1 characters, where the
 * JDK's search is fastest; in UTF-8 no character's bytes are inside another's.
 */
final class LineSearch {

  private static final int LONGEST_TEXT = 2000;
  private static final int MOST_CONTEXT = 20;

  /** {@code total} matching lines, of which the first have their lines and those around them. */
  record Lines(long total, List<List<FileAnswer.Line>> matches) {}

  private final String pattern;
  private final int before;
  private final int after;

  LineSearch(String pattern, int before, int after) {
    this.pattern =
        new String(pattern.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
    this.before = Math.clamp(before, 0, MOST_CONTEXT);
    this.after = Math.clamp(after, 0, MOST_CONTEXT);
  }

  boolean isIn(byte[] content) {
    return pattern.indexOf('\n') < 0
        && new String(content, StandardCharsets.ISO_8859_1).contains(pattern);
  }

  /** The first {@code room} matches with their text, and how many there are. */
  Lines find(byte[] content, int room) {
    List<List<FileAnswer.Line>> matches = new ArrayList<>();
    if (pattern.indexOf('\n') >= 0) {
      return new Lines(0, matches);
    }
    String text = new String(content, StandardCharsets.ISO_8859_1);
    long total = 0;
    int number = 1;
    int counted = 0;
    int at = text.indexOf(pattern);
    while (at >= 0) {
      int start = text.lastIndexOf('\n', at - 1) + 1;
      if (at == 0) {
        start = 0;
      }
      if (total < room) {
        for (; counted < start; counted = text.indexOf('\n', counted) + 1) {
          number++;
        }
        matches.add(around(text, start, number));
      }
      total++;
      int end = end(text, at + pattern.length());
      at = end < text.length() ? text.indexOf(pattern, end + 1) : -1;
    }
    return new Lines(total, matches);
  }

  private List<FileAnswer.Line> around(String text, int match, int number) {
    int start = match;
    int line = number;
    for (int i = 0; i < before && start > 0; i++) {
      start = start == 1 ? 0 : text.lastIndexOf('\n', start - 2) + 1;
      line--;
    }
    List<FileAnswer.Line> lines = new ArrayList<>();
    while (start < text.length() && line <= number + after) {
      int end = end(text, start);
      lines.add(line(text.substring(start, end), line));
      start = end + 1;
      line++;
    }
    return lines;
  }

  private static int end(String text, int from) {
    int end = text.indexOf('\n', from);
    return end < 0 ? text.length() : end;
  }

  private FileAnswer.Line line(String latin, int number) {
    String bytes = latin.endsWith("\r") ? latin.substring(0, latin.length() - 1) : latin;
    String text = new String(bytes.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
    int characters = text.codePointCount(0, text.length());
    String clipped =
        characters > LONGEST_TEXT
            ? text.substring(0, text.offsetByCodePoints(0, LONGEST_TEXT))
            : text;
    return new FileAnswer.Line(number, clipped, latin.contains(pattern), characters);
  }
}
