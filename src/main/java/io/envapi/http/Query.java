package io.envapi.http;

import java.io.ByteArrayOutputStream;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The parameters of a request's target, decoded once. As in {@link Fields}, each accessor answers a
 * value in any case and notes a fault where the parameter is wrong. Of a repeated one the last
 * counts.
 */
final class Query {

  private final Map<String, List<String>> values;
  private final Faults faults;

  private Query(Map<String, List<String>> values, Faults faults) {
    this.values = values;
    this.faults = faults;
  }

  /**
   * @param raw what stands after the question mark; empty when there is nothing
   */
  static Query parse(String raw, Faults faults) {
    var values = new LinkedHashMap<String, List<String>>();
    for (String pair : raw.split("&", -1)) {
      int equals = pair.indexOf('=');
      String name = equals < 0 ? pair : pair.substring(0, equals);
      String value = equals < 0 ? "" : pair.substring(equals + 1);
      Optional<String> decodedName = decode(name.replace('+', ' '));
      Optional<String> decodedValue = decode(value.replace('+', ' '));
      if (decodedName.isEmpty() || decodedValue.isEmpty()) {
        faults.add(
            List.of("query", decodedName.orElse("?")), "is not encoded properly", "value_error");
      } else if (!pair.isEmpty()) {
        values.computeIfAbsent(decodedName.get(), _ -> new ArrayList<>()).add(decodedValue.get());
      }
    }
    return new Query(values, faults);
  }

  /** The text that {@code encoded} stands for (RFC 3986); empty when it is no UTF-8. */
  static Optional<String> decode(String encoded) {
    if (encoded.indexOf('%') < 0) {
      return Optional.of(encoded);
    }
    var bytes = new ByteArrayOutputStream(encoded.length());
    byte[] raw = encoded.getBytes(StandardCharsets.UTF_8);
    for (int i = 0; i < raw.length; i++) {
      if (raw[i] != '%') {
        bytes.write(raw[i]);
        continue;
      }
      int high = i + 2 < raw.length ? Character.digit(raw[i + 1], 16) : -1;
      int low = i + 2 < raw.length ? Character.digit(raw[i + 2], 16) : -1;
      if (high < 0 || low < 0) {
        return Optional.empty();
      }
      bytes.write(16 * high + low);
      i += 2;
    }
    try {
      return Optional.of(
          StandardCharsets.UTF_8
              .newDecoder()
              .decode(ByteBuffer.wrap(bytes.toByteArray()))
              .toString());
    } catch (CharacterCodingException e) {
      return Optional.empty();
    }
  }

  Optional<String> text(String name) {
    return all(name).isEmpty() ? Optional.empty() : Optional.of(all(name).getLast());
  }

  /** Every value of a parameter that may be repeated. */
  List<String> all(String name) {
    return values.getOrDefault(name, List.of());
  }

  /** At least one character. */
  String requiredText(String name) {
    Optional<String> value = text(name);
    if (value.isEmpty()) {
      fault(name, "is required", "missing");
    } else if (value.get().isEmpty()) {
      fault(name, Names.NOT_EMPTY.wanted(), "string_too_short");
    }
    return value.orElse("");
  }

  long integer(String name, long otherwise, long minimum, long maximum) {
    Optional<String> text = text(name);
    if (text.isEmpty()) {
      return otherwise;
    }
    // Long.parseLong takes digits of every script.
    if (!text.get().matches("[+-]?[0-9]{1,100}")) {
      fault(name, "must be an integer", "int_parsing");
      return otherwise;
    }
    var value = new BigInteger(text.get());
    if (value.compareTo(BigInteger.valueOf(minimum)) < 0
        || value.compareTo(BigInteger.valueOf(maximum)) > 0) {
      fault(name, "must be from %d to %d".formatted(minimum, maximum), "out_of_range");
      return otherwise;
    }
    return value.longValue();
  }

  boolean flag(String name, boolean otherwise) {
    return switch (text(name).orElse(Boolean.toString(otherwise))) {
      case "true", "1" -> true;
      case "false", "0" -> false;
      default -> {
        fault(name, "must be true or false", "bool_parsing");
        yield otherwise;
      }
    };
  }

  <T> Optional<T> choice(String name, Map<String, T> choices) {
    Optional<String> chosen = text(name);
    Optional<T> value = chosen.map(choices::get);
    if (chosen.isPresent() && value.isEmpty()) {
      fault(name, "must be one of " + String.join(", ", choices.keySet()), "literal_error");
    }
    return value;
  }

  void fault(String name, String message, String type) {
    faults.add(List.of("query", name), message, type);
  }

  /** In a header that says what a parameter could say too. */
  void headerFault(String name, String message, String type) {
    faults.add(List.of("header", name), message, type);
  }
}
