package io.envapi.files;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * A pattern of {@code *}, {@code ?} and {@code [a-z]} / {@code [!a-z]} over a whole text, case and
 * all. {@code *} and {@code ?} match {@code /} too; a whole {@code **} segment also matches no
 * directory at all, so that {@code src/**}{@code /x} is {@code src/x} too. Time grows with pattern
 * times text, whatever both are.
 */
final class Glob {

  private static final int LONGEST = 4096;

  private sealed interface Token {}

  private record Literal(int character) implements Token {}

  private enum Wild implements Token {
    /** Any character. */
    ONE,
    /** Any characters, or none. */
    MANY,
    /** Any characters that end with a slash, or none. */
    DIRECTORIES
  }

  private record Range(int from, int to) {}

  private record OneOf(boolean negated, List<Range> ranges) implements Token {
    boolean matches(int character) {
      return negated != ranges.stream().anyMatch(r -> r.from() <= character && character <= r.to());
    }
  }

  private final List<Token> tokens;

  private Glob(List<Token> tokens) {
    this.tokens = tokens;
  }

  static Glob of(String pattern) {
    if (pattern.length() > LONGEST) {
      throw Refusal.invalid("glob is too long", "query", "glob");
    }
    return new Glob(tokens(pattern.codePoints().toArray()));
  }

  private static List<Token> tokens(int[] pattern) {
    List<Token> tokens = new ArrayList<>();
    int at = 0;
    while (at < pattern.length) {
      int character = pattern[at];
      if (character == '*') {
        if (isDirectories(pattern, at)) {
          tokens.add(Wild.DIRECTORIES);
          at += 3;
        } else {
          tokens.add(Wild.MANY);
          at++;
        }
      } else if (character == '?') {
        tokens.add(Wild.ONE);
        at++;
      } else {
        int end = character == '[' ? closing(pattern, at) : -1;
        tokens.add(end < 0 ? new Literal(character) : oneOf(pattern, at + 1, end));
        at = end < 0 ? at + 1 : end + 1;
      }
    }
    return tokens;
  }

  private static boolean isDirectories(int[] pattern, int at) {
    return (at == 0 || pattern[at - 1] == '/')
        && at + 2 < pattern.length
        && pattern[at + 1] == '*'
        && pattern[at + 2] == '/';
  }

  /**
   * The {@code ]} that ends a set; one that comes first is in it. Without any, {@code [} is itself.
   */
  private static int closing(int[] pattern, int at) {
    int end = at + 1;
    if (end < pattern.length && pattern[end] == '!') {
      end++;
    }
    if (end < pattern.length && pattern[end] == ']') {
      end++;
    }
    while (end < pattern.length && pattern[end] != ']') {
      end++;
    }
    return end < pattern.length ? end : -1;
  }

  private static OneOf oneOf(int[] pattern, int from, int end) {
    boolean negated = pattern[from] == '!';
    List<Range> ranges = new ArrayList<>();
    int at = negated ? from + 1 : from;
    while (at < end) {
      if (at + 2 < end && pattern[at + 1] == '-') {
        ranges.add(new Range(pattern[at], pattern[at + 2]));
        at += 3;
      } else {
        ranges.add(new Range(pattern[at], pattern[at]));
        at++;
      }
    }
    return new OneOf(negated, ranges);
  }

  boolean matches(String text) {
    BitSet states = new BitSet(tokens.size() + 1);
    enter(states, 0, true);
    boolean afterSlash;
    int at = 0;
    while (at < text.length() && !states.isEmpty()) {
      int character = text.codePointAt(at);
      afterSlash = character == '/';
      BitSet next = new BitSet(tokens.size() + 1);
      for (int i = states.nextSetBit(0); i >= 0; i = states.nextSetBit(i + 1)) {
        if (i < tokens.size()) {
          step(next, i, character, afterSlash);
        }
      }
      states = next;
      at += Character.charCount(character);
    }
    return states.get(tokens.size());
  }

  private void step(BitSet next, int token, int character, boolean afterSlash) {
    switch (tokens.get(token)) {
      case Literal(int expected) -> {
        if (expected == character) {
          enter(next, token + 1, true);
        }
      }
      case OneOf set -> {
        if (set.matches(character)) {
          enter(next, token + 1, true);
        }
      }
      case Wild.ONE -> enter(next, token + 1, true);
      case Wild.MANY -> enter(next, token, true);
      case Wild.DIRECTORIES -> enter(next, token, afterSlash);
    }
  }

  /** {@code leave}: whether a DIRECTORIES token may be passed here. */
  private void enter(BitSet states, int token, boolean leave) {
    states.set(token);
    if (token == tokens.size()) {
      return;
    }
    switch (tokens.get(token)) {
      case Wild.MANY -> enter(states, token + 1, true);
      case Wild.DIRECTORIES -> {
        if (leave) {
          enter(states, token + 1, true);
        }
      }
      case Wild.ONE -> {}
      case Literal _ -> {}
      case OneOf _ -> {}
    }
  }
}
