package io.envapi.files;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Finds a literal text, or what a regular expression describes, in the lines of a file. Works on
 * the bytes as Latin-1 characters, where the JDK's search is fastest; in UTF-8 no character's bytes
 * are inside another's.
 */
final class LineSearch {

  private static final int LONGEST_TEXT = 2000;
  private static final int MOST_CONTEXT = 20;
  private static final int LONGEST_REGEX = 1000;

  /** {@code total} matching lines, of which the first have their lines and those around them. */
  record Lines(long total, List<List<FileAnswer.Line>> matches) {}

  private final String pattern;
  private final Optional<Pattern> regex;
  private final Deadline deadline;
  private final int before;
  private final int after;

  /**
   * @param deadline for expressions
   */
  LineSearch(FileOperation.Search search, Deadline deadline) {
    this.pattern =
        new String(search.pattern().getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
    this.regex = search.regex() ? Optional.of(compiled(search.pattern())) : Optional.empty();
    this.deadline = deadline;
    this.before = Math.clamp(search.before(), 0, MOST_CONTEXT);
    this.after = Math.clamp(search.after(), 0, MOST_CONTEXT);
  }

  private static Pattern compiled(String regex) {
    if (regex.length() > LONGEST_REGEX) {
      throw Refusal.invalid("the expression is too long", "query", "pattern");
    }
    if (RegexWeight.isTooHeavy(regex)) {
      throw Refusal.invalid("the expression repeats too much", "query", "pattern");
    }
    try {
      return Pattern.compile(regex);
    } catch (PatternSyntaxException e) {
      throw Refusal.invalid("is no regular expression (RE2)", "query", "pattern");
    }
  }

  boolean isIn(byte[] content) {
    if (regex.isPresent()) {
      return byLine(new String(content, StandardCharsets.ISO_8859_1), 0).total() > 0;
    }
    return pattern.indexOf('\n') < 0
        && new String(content, StandardCharsets.ISO_8859_1).contains(pattern);
  }

  /** The first {@code room} matches with their text, and how many there are. */
  Lines find(byte[] content, int room) {
    if (regex.isPresent()) {
      return byLine(new String(content, StandardCharsets.ISO_8859_1), room);
    }
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

  /** An expression is tried on each line by itself. */
  private Lines byLine(String text, int room) {
    List<List<FileAnswer.Line>> matches = new ArrayList<>();
    long total = 0;
    int number = 1;
    for (int start = 0; start < text.length(); number++) {
      int end = end(text, start);
      if (isMatch(text.substring(start, end))) {
        if (total < room) {
          matches.add(around(text, start, number));
        }
        total++;
      }
      start = end + 1;
    }
    return new Lines(total, matches);
  }

  private boolean isMatch(String latin) {
    return regex.isPresent()
        ? regex.get().matcher(new TimedText(decoded(latin), deadline)).find()
        : latin.contains(pattern);
  }

  private static String decoded(String latin) {
    String bytes = latin.endsWith("\r") ? latin.substring(0, latin.length() - 1) : latin;
    return new String(bytes.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
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
    String text = decoded(latin);
    int characters = text.codePointCount(0, text.length());
    String clipped =
        characters > LONGEST_TEXT
            ? text.substring(0, text.offsetByCodePoints(0, LONGEST_TEXT))
            : text;
    return new FileAnswer.Line(number, clipped, isMatch(latin), characters);
  }
}
