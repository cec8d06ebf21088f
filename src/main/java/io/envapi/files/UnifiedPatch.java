package io.envapi.files;

import io.envapi.failure.Failure;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Unified hunks, applied without any fuzz: each where it says, and only if its old lines are there
 * to the byte, line ends included ({@code \ No newline at end of file} stands for a missing one).
 * What diff and git write before the names is passed over, and so is what git format-patch ends
 * with.
 */
final class UnifiedPatch {

  /** The largest patch taken, in characters. */
  static final int LARGEST = 2 << 20;

  private static final Pattern HEADER =
      line("@@ -(\\d{1,9})(?:,(\\d{1,9}))? \\+(\\d{1,9})(?:,(\\d{1,9}))? @@.*");

  /** The first line of what git format-patch writes. */
  private static final Pattern MAIL = line("From [0-9a-f]{40,64} .*");

  /** Where a file begins, of which a patch has one. */
  private static final Pattern FILE = line("(?:diff |Index: |--- ).*");

  private static final Pattern BEFORE_NAMES =
      line("(?:diff |Index: |index |(?:old|new) mode |(?:dis)?similarity index ).*|={3,}");

  private static final Pattern MORE_THAN_LINES =
      line("(new file mode|deleted file mode|rename from|rename to|copy from|copy to) .*");

  /** After {@code --}: so no line of a hunk, which begins otherwise. */
  private static final Pattern VERSION = line("\\d+\\.\\d.*");

  /**
   * @param from counts from 0
   * @param end how the lines of the patch end here, and so its file's where they say nothing else
   */
  private record Hunk(int from, String end, List<String> before, List<String> after) {}

  /** What fits, and the numbers of the hunks from 1. */
  record Applied(List<TextChange> changes, List<Integer> applied, List<Integer> rejected) {}

  private final List<Hunk> hunks = new ArrayList<>();
  private final TextLines lines;
  private int at;

  private UnifiedPatch(TextLines lines) {
    this.lines = lines;
  }

  /** Reads all of a patch, or refuses all of it. */
  static UnifiedPatch parse(String text) {
    if (text.length() > LARGEST) {
      throw new Refusal(new Failure.InvalidLimit("the patch is too large", LARGEST));
    }
    UnifiedPatch patch = new UnifiedPatch(new TextLines(text));
    patch.skipMail();
    patch.skipBeforeNames();
    patch.readNames();
    while (!patch.isAtEnd()) {
      patch.readHunk();
    }
    if (patch.hunks.isEmpty()) {
      throw malformed("it has no hunk");
    }
    return patch;
  }

  Applied apply(TextLines text) {
    List<TextChange> changes = new ArrayList<>();
    List<Integer> applied = new ArrayList<>();
    List<Integer> rejected = new ArrayList<>();
    for (int i = 0; i < hunks.size(); i++) {
      Hunk hunk = hunks.get(i);
      if (fits(hunk, text)) {
        applied.add(i + 1);
        changes.add(
            new TextChange(
                hunk.from(),
                hunk.from() + hunk.before().size(),
                new TextLines(String.join("", hunk.after()))));
      } else {
        rejected.add(i + 1);
      }
    }
    return new Applied(changes, applied, rejected);
  }

  private static boolean fits(Hunk hunk, TextLines text) {
    int end = hunk.from() + hunk.before().size();
    if (end > text.size()) {
      return false;
    }
    for (int i = 0; i < hunk.before().size(); i++) {
      if (!hunk.before().get(i).equals(text.get(hunk.from() + i))) {
        return false;
      }
    }
    // Lines are joined by their line feeds: only the last of the text may go without.
    boolean open = !hunk.after().isEmpty() && !hunk.after().getLast().endsWith("\n");
    boolean afterOpen = end == text.size() && hunk.from() == end && endsOpen(text);
    return (!open || end == text.size()) && !afterOpen;
  }

  /** Whether the text's last line has no line feed, so that nothing can follow it. */
  private static boolean endsOpen(TextLines text) {
    return !text.isEmpty() && !text.getLast().endsWith("\n");
  }

  /** The message of a commit, which may hold anything. */
  private void skipMail() {
    if (at < lines.size() && MAIL.matcher(line()).matches()) {
      while (at < lines.size() && !line().startsWith("diff --git ")) {
        at++;
      }
    }
  }

  private void skipBeforeNames() {
    boolean named = false;
    while (at < lines.size() && BEFORE_NAMES.matcher(line()).matches()) {
      boolean diff = line().startsWith("diff ");
      refuseOtherFile(named && diff);
      named |= diff;
      at++;
    }
  }

  private void refuseMoreThanLines() {
    Matcher more = MORE_THAN_LINES.matcher(line());
    if (more.matches()) {
      throw Refusal.invalid(
          "the patch must only change lines of a file that is there: it has " + more.group(1),
          "body",
          "patch");
    }
  }

  private static void refuseOtherFile(boolean other) {
    if (other) {
      throw malformed("it is for more than one file");
    }
  }

  private void readNames() {
    if (at < lines.size() && line().startsWith("--- ")) {
      at++;
      if (at == lines.size() || !line().startsWith("+++ ")) {
        throw malformed("--- is not followed by +++");
      }
      at++;
    }
  }

  /** At the end of the text, or of what git format-patch closes with its version. */
  private boolean isAtEnd() {
    boolean signed =
        !hunks.isEmpty()
            && at + 1 < lines.size()
            && line().stripTrailing().equals("--")
            && VERSION.matcher(withoutEnd(lines.get(at + 1))).matches()
            && lines.subList(at + 2, lines.size()).stream().allMatch(String::isBlank);
    return signed || at == lines.size();
  }

  private String line() {
    return withoutEnd(lines.get(at));
  }

  private void readHunk() {
    Matcher header = HEADER.matcher(line());
    if (!header.matches()) {
      refuseMoreThanLines();
      refuseOtherFile(FILE.matcher(line()).matches());
      throw malformed("line " + (at + 1) + " is no hunk header");
    }
    String end = lines.get(at).endsWith("\r\n") ? "\r\n" : "\n";
    at++;
    int oldStart = Integer.parseInt(header.group(1));
    int oldCount = count(header.group(2));
    int newCount = count(header.group(4));
    // A hunk without old lines names the line it comes after.
    int from = oldCount == 0 ? oldStart : oldStart - 1;
    if (from < 0) {
      throw malformed("a hunk starts before the first line");
    }
    Hunk hunk = new Hunk(from, end, new ArrayList<>(), new ArrayList<>());
    while (hunk.before().size() < oldCount || hunk.after().size() < newCount) {
      readLine(hunk);
    }
    if (hunk.before().size() > oldCount || hunk.after().size() > newCount) {
      throw malformed("a hunk has other lines than its header counts");
    }
    readNoFeed(hunk);
    refuseOverlap(hunk);
    hunks.add(hunk);
  }

  private static int count(@org.jspecify.annotations.Nullable String group) {
    return group == null ? 1 : Integer.parseInt(group);
  }

  private void readLine(Hunk hunk) {
    if (at == lines.size()) {
      throw malformed("it ends inside a hunk");
    }
    String line = lines.get(at++);
    if (line.equals("\n") || line.equals("\r\n")) {
      hunk.before().add(line);
      hunk.after().add(line);
      return;
    }
    switch (line.charAt(0)) {
      case ' ' -> {
        hunk.before().add(content(line, hunk));
        hunk.after().add(content(line, hunk));
      }
      case '-' -> hunk.before().add(content(line, hunk));
      case '+' -> hunk.after().add(content(line, hunk));
      case '\\' -> {
        at--;
        readNoFeed(hunk);
      }
      default -> throw malformed("line " + at + " belongs to no hunk");
    }
  }

  /** The patch's own last line may lack its end; the file's then is meant to have one. */
  private static String content(String line, Hunk hunk) {
    String content = line.substring(1);
    if (content.endsWith("\n")) {
      return content;
    }
    return content + (content.endsWith("\r") ? "\n" : hunk.end());
  }

  /** {@code \ No newline at end of file}: the line before it has no end. */
  private void readNoFeed(Hunk hunk) {
    if (at == lines.size() || lines.get(at).charAt(0) != '\\') {
      return;
    }
    char kind = at == 0 ? '@' : lines.get(at - 1).charAt(0);
    switch (kind) {
      case '-' -> openLast(hunk.before(), hunk.end());
      case '+' -> openLast(hunk.after(), hunk.end());
      case ' ' -> {
        openLast(hunk.before(), hunk.end());
        openLast(hunk.after(), hunk.end());
      }
      default -> throw malformed("line " + (at + 1) + " follows no line of a hunk");
    }
    at++;
  }

  /** A carriage return is the file's own where only line feeds end the lines of the patch. */
  private static void openLast(List<String> lines, String end) {
    String last = lines.getLast();
    lines.set(lines.size() - 1, last.endsWith(end) ? without(end, last) : without("\n", last));
  }

  private void refuseOverlap(Hunk hunk) {
    if (!hunks.isEmpty()) {
      Hunk previous = hunks.getLast();
      if (hunk.from() < previous.from() + previous.before().size()) {
        throw malformed("hunks overlap or are out of order");
      }
    }
  }

  private static String withoutEnd(String line) {
    return without("\r", without("\n", line));
  }

  private static String without(String end, String line) {
    return line.endsWith(end) ? line.substring(0, line.length() - end.length()) : line;
  }

  /** Any character but the line feed may be in a line. */
  private static Pattern line(String regex) {
    return Pattern.compile(regex, Pattern.DOTALL);
  }

  private static Refusal malformed(String why) {
    return Refusal.invalid("the patch is malformed: " + why, "body", "patch");
  }
}
