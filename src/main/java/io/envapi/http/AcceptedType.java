package io.envapi.http;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * One of the types in {@code Accept} (RFC 9110, section 12.5.1), without its parameters.
 *
 * @param name in small letters
 * @param weight 0 for one that must not come, 1 for the most welcome
 */
record AcceptedType(String name, double weight) {

  private static final Pattern WEIGHT = Pattern.compile("q\\s*=\\s*([01](?:\\.[0-9]{0,3})?)");

  /** The types in one line of the header. A weight that is none counts as 1. */
  static Stream<AcceptedType> parse(String value) {
    return Arrays.stream(value.toLowerCase(Locale.ROOT).split(",")).map(AcceptedType::of);
  }

  private static AcceptedType of(String range) {
    List<String> parts = Arrays.stream(range.split(";", -1)).map(String::strip).toList();
    double weight =
        parts.stream()
            .skip(1)
            .map(WEIGHT::matcher)
            .filter(Matcher::matches)
            .map(each -> Double.valueOf(each.group(1)))
            .findFirst()
            .orElse(1.0);
    return new AcceptedType(parts.getFirst(), weight);
  }

  /** That of the type by its own name; 0 where it is not named. */
  static double weight(List<AcceptedType> accepted, String name) {
    return accepted.stream()
        .filter(each -> each.name().equals(name))
        .mapToDouble(AcceptedType::weight)
        .max()
        .orElse(0);
  }
}
