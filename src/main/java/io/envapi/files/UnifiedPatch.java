package io.envapi.files;

import io.envapi.failure.Failure;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Unified hunks, applied without any fuzz: each where it says, and only if its old lines are there
 * to the byte, line feeds included ({@code \ No newline at end of file} stands for a missing one).
 */
final class UnifiedPatch {

  /** The largest patch taken, in characters. */
  static final int LARGEST = 2 << 20;

  private static final Pattern HEADER =
      Pattern.compile("@@ -(\\d{1,9})(?:,(\\d{1,9}))? \\+(\\d{1,9})(?:,(\\d{1,9}))? @@.*");

  /** What git writes before the names. */
  private static final Pattern GIT =
      Pattern.compile("diff --git .*|index .*|(?:old|new) mode .*|similarity index .*");

  /** {@code from} counts from 0; {@code before} are the old lines, {@code after} the new. */
  private record Hunk(int from, List<String> before, List<String> after) {}

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
    patch.readNames();
    while (patch.at < patch.lines.size()) {
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

  private void readNames() {
    while (at < lines.size() && GIT.matcher(withoutFeed(lines.get(at))).matches()) {
      at++;
    }
    if (at < lines.size() && lines.get(at).startsWith("--- ")) {
      at++;
      if (at == lines.size() || !lines.get(at).startsWith("+++ ")) {
        throw malformed("--- is not followed by +++");
      }
      at++;
    }
  }

  private void readHunk() {
    Matcher header = HEADER.matcher(withoutFeed(lines.get(at)));
    if (!header.matches()) {
      throw malformed("line " + (at + 1) + " is no hunk header");
    }
    at++;
    int oldStart = Integer.parseInt(header.group(1));
    int oldCount = count(header.group(2));
    int newCount = count(header.group(4));
    // A hunk without old lines names the line it comes after.
    int from = oldCount == 0 ? oldStart : oldStart - 1;
    if (from < 0) {
      throw malformed("a hunk starts before the first line");
    }
    Hunk hunk = new Hunk(from, new ArrayList<>(), new ArrayList<>());
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
    String content = line.substring(1);
    // The patch's own last line may lack its line feed; the file's then is meant to have one.
    String whole = content.endsWith("\n") || line.equals("\n") ? content : content + "\n";
    switch (line.charAt(0)) {
      case ' ' -> {
        hunk.before().add(whole);
        hunk.after().add(whole);
      }
      case '\n' -> {
        hunk.before().add("\n");
        hunk.after().add("\n");
      }
      case '-' -> hunk.before().add(whole);
      case '+' -> hunk.after().add(whole);
      case '\\' -> {
        at--;
        readNoFeed(hunk);
      }
      default -> throw malformed("line " + at + " belongs to no hunk");
    }
  }

  /** {@code \ No newline at end of file}: the line before it has no line feed. */
  private void readNoFeed(Hunk hunk) {
    if (at == lines.size() || lines.get(at).charAt(0) != '\\') {
      return;
    }
    char kind = at == 0 ? '@' : lines.get(at - 1).charAt(0);
    switch (kind) {
      case '-' -> openLast(hunk.before());
      case '+' -> openLast(hunk.after());
      case ' ' -> {
        openLast(hunk.before());
        openLast(hunk.after());
      }
      default -> throw malformed("line " + (at + 1) + " follows no line of a hunk");
    }
    at++;
  }

  private static void openLast(List<String> lines) {
    lines.set(lines.size() - 1, withoutFeed(lines.getLast()));
  }

  private void refuseOverlap(Hunk hunk) {
    if (!hunks.isEmpty()) {
      Hunk previous = hunks.getLast();
      if (hunk.from() < previous.from() + previous.before().size()) {
        throw malformed("hunks overlap or are out of order");
      }
    }
  }

  private static String withoutFeed(String line) {
    return line.endsWith("\n") ? line.substring(0, line.length() - 1) : line;
  }

  private static Refusal malformed(String why) {
    return Refusal.invalid("the patch is malformed: " + why, "body", "patch");
  }
}
