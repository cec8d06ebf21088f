package io.envapi.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.envapi.failure.Failure;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The members of one JSON object. Each accessor answers a value of the wanted type in any case, and
 * notes a fault when the object does not have it; the values count only if there is no fault. Types
 * are strict: 1.5 and true are no integers, 5 is no string, null is a value of its own.
 */
final class Fields {

  // A pattern sees a proper pair as one character.
  private static final Pattern LONE_SURROGATE = Pattern.compile("[\\x{D800}-\\x{DFFF}]");

  private final ObjectNode object;
  private final List<String> location;
  private final Faults faults;

  Fields(ObjectNode object, List<String> location, Faults faults) {
    this.object = object;
    this.location = location;
    this.faults = faults;
  }

  String text(String name) {
    return has(name) ? asText(name, object.path(name)) : missing(name, "");
  }

  String text(String name, String otherwise) {
    return has(name) ? asText(name, object.path(name)) : otherwise;
  }

  /** At least one character. */
  String nonEmptyText(String name) {
    return matching(name, Names.NOT_EMPTY);
  }

  String matching(String name, Names form) {
    return has(name) ? matching(name, object.path(name), form) : missing(name, "");
  }

  Optional<String> optionalText(String name) {
    return has(name) ? Optional.of(asText(name, object.path(name))) : Optional.empty();
  }

  long integer(String name, long otherwise, long minimum, long maximum) {
    return has(name) ? asInteger(name, minimum, maximum) : otherwise;
  }

  /** May be null, which is the same as absent. */
  Optional<Long> nullableInteger(String name, long minimum, long maximum) {
    return object.hasNonNull(name)
        ? Optional.of(asInteger(name, minimum, maximum))
        : Optional.empty();
  }

  boolean flag(String name, boolean otherwise) {
    if (has(name) && !object.path(name).isBoolean()) {
      fault(name, "must be true or false", "bool_type");
    }
    return has(name) ? object.path(name).booleanValue() : otherwise;
  }

  /** May be null, which is the same as absent. */
  Optional<Boolean> nullableFlag(String name) {
    return object.hasNonNull(name) ? Optional.of(flag(name, false)) : Optional.empty();
  }

  <T> T choice(String name, Map<String, T> choices, String otherwise) {
    String chosen = text(name, otherwise);
    T value = choices.get(chosen);
    if (value == null) {
      fault(name, "must be one of " + String.join(", ", choices.keySet()), "literal_error");
      return choices.values().iterator().next();
    }
    return value;
  }

  /** At most {@code most} strings. */
  List<String> texts(String name, Names form, int most) {
    var values = new ArrayList<String>();
    if (has(name) && !object.path(name).isArray()) {
      fault(name, "must be an array", "list_type");
    }
    if (isLonger(name, most)) {
      return values;
    }
    for (JsonNode each : object.path(name)) {
      values.add(matching(name, each, form));
    }
    return values;
  }

  /** An object with at most {@code most} members, whose values are strings. */
  Map<String, String> textMap(String name, Names keys, Names values, int most) {
    var map = new LinkedHashMap<String, String>();
    if (has(name) && !object.path(name).isObject()) {
      fault(name, "must be an object", "dict_type");
      return map;
    }
    if (isLonger(name, most)) {
      return map;
    }
    for (Map.Entry<String, JsonNode> each : object.path(name).properties()) {
      String key = matching(name, each.getKey(), keys);
      map.put(key, matching(name, each.getValue(), values));
    }
    return map;
  }

  private boolean isLonger(String name, int most) {
    if (object.path(name).size() > most) {
      fault(name, "must have at most %d members".formatted(most), "too_long");
      return true;
    }
    return false;
  }

  /** An object inside; without members where there is none or null. */
  Fields inner(String name) {
    var inside = new ArrayList<>(location);
    inside.add(name);
    if (object.hasNonNull(name) && !object.path(name).isObject()) {
      fault(name, "must be an object", "dict_type");
    }
    ObjectNode node = object.path(name) instanceof ObjectNode found ? found : Json.object();
    return new Fields(node, inside, faults);
  }

  /** The objects in an array, which has from 1 to {@code most}. */
  List<Fields> objects(String name, int most) {
    JsonNode array = object.path(name);
    var found = new ArrayList<Fields>();
    if (!array.isArray()) {
      fault(name, has(name) ? "must be an array" : "is required", "list_type");
      return found;
    }
    if (array.isEmpty() || array.size() > most) {
      fault(name, "must have from 1 to %d members".formatted(most), "out_of_range");
      return found;
    }
    for (int i = 0; i < array.size(); i++) {
      List<String> inside = at(name);
      inside.add(Integer.toString(i));
      if (array.get(i) instanceof ObjectNode member) {
        found.add(new Fields(member, inside, faults));
      } else {
        faults.add(inside, "must be an object", "dict_type");
      }
    }
    return found;
  }

  /** As {@link #inner}, but it has to be there. */
  Fields requiredInner(String name) {
    if (!object.hasNonNull(name)) {
      missing(name, "");
    }
    return inner(name);
  }

  /** The member as it is; missing where it is absent. */
  JsonNode node(String name) {
    return object.path(name);
  }

  ObjectNode object() {
    return object;
  }

  boolean has(String name) {
    return object.has(name);
  }

  void fault(String name, String message, String type) {
    faults.add(at(name), message, type);
  }

  void refuse(Failure failure) {
    faults.refuse(failure);
  }

  private String matching(String name, String value, Names form) {
    if (!form.matches(value)) {
      fault(name, form.wanted(), "string_pattern_mismatch");
    }
    return value;
  }

  /** What is no text is one fault and not two. */
  private String matching(String name, JsonNode node, Names form) {
    String text = asText(name, node);
    return node.isTextual() ? matching(name, text, form) : text;
  }

  private <T> T missing(String name, T standIn) {
    fault(name, "is required", "missing");
    return standIn;
  }

  private String asText(String name, JsonNode node) {
    if (!node.isTextual()) {
      fault(name, "must be a string", "string_type");
      return "";
    }
    if (LONE_SURROGATE.matcher(node.textValue()).find()) {
      fault(name, "has half a character", "string_unicode");
      return "";
    }
    return node.textValue();
  }

  private long asInteger(String name, long minimum, long maximum) {
    JsonNode node = object.path(name);
    if (!node.isIntegralNumber()) {
      fault(name, "must be an integer", "int_type");
      return minimum;
    }
    long value = node.canConvertToLong() ? node.longValue() : Long.MIN_VALUE;
    if (value < minimum || value > maximum) {
      fault(name, "must be from %d to %d".formatted(minimum, maximum), "out_of_range");
      return minimum;
    }
    return value;
  }

  private List<String> at(String name) {
    var path = new ArrayList<>(location);
    path.add(name);
    return path;
  }
}
