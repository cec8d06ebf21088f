package io.envapi.files;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The precondition of a change (RFC 9110, section 13.1.1): strong comparison, so a weak tag matches
 * nothing, and neither does anything a missing file.
 *
 * @param given whether there is one at all
 * @param any {@code *}: whatever the file holds, it must be there
 * @param tags with their quotes
 */
public record IfMatch(boolean given, boolean any, List<String> tags) {

  private static final IfMatch NONE = new IfMatch(false, false, List.of());

  private static final Pattern TAG = Pattern.compile("(W/)?(\"[^\"]*\")");

  public IfMatch {
    tags = tags == null ? List.of() : List.copyOf(tags);
  }

  public static IfMatch none() {
    return NONE;
  }

  /** The header's value, its lines joined by commas. What is no tag matches nothing. */
  public static IfMatch parse(String header) {
    return parse(header, false);
  }

  /**
   * As {@link #parse(String)} for {@code If-None-Match} (section 13.1.2), whose comparison is weak:
   * a weak tag names what the strong one does.
   */
  public static IfMatch parseWeak(String header) {
    return parse(header, true);
  }

  private static IfMatch parse(String header, boolean weak) {
    if (header.strip().equals("*")) {
      return new IfMatch(true, true, List.of());
    }
    List<String> tags = new ArrayList<>();
    Matcher matcher = TAG.matcher(header);
    while (matcher.find()) {
      if (weak || matcher.group(1) == null) {
        tags.add(matcher.group(2));
      }
    }
    return new IfMatch(true, false, tags);
  }

  /** Whether the file's content decides, not only whether there is a file. */
  boolean namesTags() {
    return given && !any;
  }

  /** Refuses unless it holds for the file's tag; empty when there is no such file. */
  void check(Optional<String> etag) {
    if (given && !names(etag)) {
      throw Refusal.changed();
    }
  }

  /** As {@link #check}, for {@code If-None-Match}: refuses what it names. */
  void checkNone(Optional<String> etag) {
    if (given && names(etag)) {
      throw Refusal.changed();
    }
  }

  private boolean names(Optional<String> etag) {
    return any ? etag.isPresent() : etag.filter(tags::contains).isPresent();
  }
}
