package io.envapi.files;

import io.envapi.failure.Failure;
import java.util.ArrayList;
import java.util.List;

/** Replacing a piece of text that is there exactly once. */
final class TextEdit {

  /** The most places an answer names. */
  private static final int MOST_PLACES = 1000;

  private TextEdit() {}

  /** Refuses unless {@code old} is in the text exactly once; places that overlap count too. */
  static TextChange of(TextLines text, String old, String replacement) {
    List<Integer> places = places(text.text(), old);
    if (places.size() != 1) {
      throw new Refusal(new Failure.Ambiguous(lineNumbers(text, places)));
    }
    int start = places.getFirst();
    int end = start + old.length();
    int from = text.lineAt(start);
    int to = text.lineAt(end);
    // Unless it ends where a line ends, the rest of that line changes with it.
    if (to < text.size() && text.start(to) != end) {
      to++;
    }
    String lines =
        text.text().substring(text.start(from), start)
            + replacement
            + text.text().substring(end, text.start(to));
    // Without a line feed at its end it joins the line that follows.
    if (to < text.size() && !lines.isEmpty() && !lines.endsWith("\n")) {
      lines += text.get(to);
      to++;
    }
    return new TextChange(from, to, new TextLines(lines));
  }

  private static List<Integer> places(String text, String old) {
    List<Integer> places = new ArrayList<>();
    int at = text.indexOf(old);
    while (at >= 0 && places.size() < MOST_PLACES) {
      places.add(at);
      at = text.indexOf(old, at + 1);
    }
    return places;
  }

  private static List<Integer> lineNumbers(TextLines text, List<Integer> places) {
    return places.stream().map(place -> text.lineAt(place) + 1).toList();
  }
}
