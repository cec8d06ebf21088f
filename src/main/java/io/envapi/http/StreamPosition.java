package io.envapi.http;

import io.envapi.id.CommandId;
import io.envapi.shell.CommandMarks;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where in a stream of output a reader is, as the id of the last event it got has it.
 *
 * <p>Written {@code <cursor>} after output: what happens to commands at that place comes next.
 * Written {@code <cursor>-<mark>} after a command's beginning or end, of which there may be several
 * at one place.
 *
 * @param cursor the next byte
 * @param mark the newest of the shell's {@link io.envapi.shell.CommandMarks} that the reader has
 */
record StreamPosition(long cursor, OptionalInt mark) {

  private static final Pattern WRITTEN = Pattern.compile("([0-9]{1,18})(?:-([0-9]{1,9}))?");

  static final StreamPosition START = at(0);

  static StreamPosition at(long cursor) {
    return new StreamPosition(cursor, OptionalInt.empty());
  }

  static StreamPosition after(long cursor, int mark) {
    return new StreamPosition(cursor, OptionalInt.of(mark));
  }

  static Optional<StreamPosition> parse(String text) {
    Matcher written = WRITTEN.matcher(text);
    if (!written.matches()) {
      return Optional.empty();
    }
    long cursor = Long.parseLong(written.group(1));
    String mark = written.group(2);
    return Optional.of(mark == null ? at(cursor) : after(cursor, Integer.parseInt(mark)));
  }

  /** Whether the stream of this one command can have given it out. */
  boolean isOf(CommandId command) {
    return mark.stream()
        .allMatch(given -> given == CommandMarks.NONE || CommandMarks.isOf(command, given));
  }

  String id() {
    return mark.isPresent() ? cursor + "-" + mark.getAsInt() : Long.toString(cursor);
  }
}
