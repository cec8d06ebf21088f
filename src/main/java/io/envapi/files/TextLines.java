package io.envapi.files;

import java.util.AbstractList;
import java.util.Arrays;
import java.util.List;
import java.util.RandomAccess;

/** The lines of a text, each with its line feed, cut from it when they are asked for. */
final class TextLines extends AbstractList<String> implements RandomAccess {

  private final String text;

  /** Where each line starts, and where the last ends. */
  private final int[] starts;

  TextLines(String text) {
    this.text = text;
    int count = text.isEmpty() || text.endsWith("\n") ? 0 : 1;
    for (int at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) {
      count++;
    }
    starts = new int[count + 1];
    for (int line = 1; line < count; line++) {
      starts[line] = text.indexOf('\n', starts[line - 1]) + 1;
    }
    starts[count] = text.length();
  }

  @Override
  public String get(int line) {
    return text.substring(starts[line], starts[line + 1]);
  }

  @Override
  public int size() {
    return starts.length - 1;
  }

  String text() {
    return text;
  }

  /** The place of a line's first character; the end of the text for the line after the last. */
  int start(int line) {
    return starts[line];
  }

  /** The line that holds the character at {@code place}; the number of lines at the end. */
  int lineAt(int place) {
    if (place >= text.length()) {
      return size();
    }
    int found = Arrays.binarySearch(starts, place);
    return found >= 0 ? found : -found - 2;
  }

  /** The same lines as a diff shows them: without line feed, and saying so where there is none. */
  List<String> shown() {
    return new Shown(this);
  }

  private static final class Shown extends AbstractList<String> implements RandomAccess {
    private final TextLines lines;

    Shown(TextLines lines) {
      this.lines = lines;
    }

    @Override
    public String get(int index) {
      String line = lines.get(index);
      return line.endsWith("\n")
          ? line.substring(0, line.length() - 1)
          : line + "\n\\ No newline at end of file";
    }

    @Override
    public int size() {
      return lines.size();
    }
  }
}
