package io.envapi.files;

import com.github.difflib.UnifiedDiffUtils;
import com.github.difflib.patch.ChangeDelta;
import com.github.difflib.patch.Chunk;
import com.github.difflib.patch.DeleteDelta;
import com.github.difflib.patch.InsertDelta;
import com.github.difflib.patch.Patch;
import java.util.List;

/**
 * Whole lines of a text that become other lines.
 *
 * @param from the first line, from 0
 * @param to the line after the last
 * @param lines what they become
 */
record TextChange(int from, int to, TextLines lines) {

  private static final int CONTEXT = 3;

  /** The longest diff answered, in characters; what is beyond is cut at a line's end. */
  private static final int LONGEST_DIFF = 1 << 20;

  /** The most lines of one change that are looked at for it. */
  private static final int MOST_LINES = 20_000;

  /** {@code old} with all changes made; they are in order and do not overlap. */
  static String apply(TextLines old, List<TextChange> changes) {
    StringBuilder text = new StringBuilder();
    int line = 0;
    for (TextChange change : changes) {
      text.append(old.text(), old.start(line), old.start(change.from()));
      text.append(change.lines().text());
      line = change.to();
    }
    return text.append(old.text(), old.start(line), old.text().length()).toString();
  }

  /** The unified diff; empty when nothing changes. */
  static String diff(String path, TextLines old, List<TextChange> changes) {
    Patch<String> patch = new Patch<>();
    int shift = 0;
    for (TextChange change : changes) {
      shift += change.addTo(patch, old, shift);
    }
    StringBuilder diff = new StringBuilder();
    for (String line :
        UnifiedDiffUtils.generateUnifiedDiff(
            "a/" + path, "b/" + path, old.shown(), patch, CONTEXT)) {
      if (diff.length() + line.length() > LONGEST_DIFF) {
        break;
      }
      diff.append(standard(line)).append('\n');
    }
    return diff.toString();
  }

  /** Where there are no lines the standard counts from 0, the library from 1. */
  private static String standard(String line) {
    return line.startsWith("@@ ")
        ? line.replace("@@ -1,0 ", "@@ -0,0 ").replace(" +1,0 @@", " +0,0 @@")
        : line;
  }

  /** Adds what really differs; answers by how many lines the text grows. */
  private int addTo(Patch<String> patch, TextLines old, int shift) {
    int first = 0;
    int most = Math.min(to - from, lines.size());
    while (first < most && old.get(from + first).equals(lines.get(first))) {
      first++;
    }
    int last = 0;
    while (last < most - first
        && old.get(to - 1 - last).equals(lines.get(lines.size() - 1 - last))) {
      last++;
    }
    List<String> before = clipped(old.shown().subList(from + first, to - last));
    List<String> after = clipped(lines.shown().subList(first, lines.size() - last));
    Chunk<String> source = new Chunk<>(from + first, before);
    Chunk<String> target = new Chunk<>(from + first + shift, after);
    if (before.isEmpty() && !after.isEmpty()) {
      patch.addDelta(new InsertDelta<>(source, target));
    } else if (after.isEmpty() && !before.isEmpty()) {
      patch.addDelta(new DeleteDelta<>(source, target));
    } else if (!before.isEmpty()) {
      patch.addDelta(new ChangeDelta<>(source, target));
    }
    return lines.size() - (to - from);
  }

  private static List<String> clipped(List<String> lines) {
    return lines.size() > MOST_LINES ? lines.subList(0, MOST_LINES) : lines;
  }
}
