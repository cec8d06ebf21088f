package io.envapi.http;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.List;
import java.util.function.Function;

/** Reads request bodies. */
final class Bodies {

  private static final List<String> BODY = List.of("body");

  /** A body with the form a route wants, or what is wrong with it. */
  sealed interface Read<T> {

    record Accepted<T>(T value) implements Read<T> {}

    record Rejected<T>(Problem problem) implements Read<T> {}
  }

  private Bodies() {}

  /**
   * Reads a JSON object. No body at all is an object without members; of a member that is there
   * twice the last one counts.
   */
  static <T> Read<T> read(byte[] bytes, Function<Fields, T> reader) {
    var faults = new Faults();
    ObjectNode object = object(bytes, faults);
    T value = reader.apply(new Fields(object, BODY, faults));
    return faults
        .problem()
        .<Read<T>>map(Read.Rejected::new)
        .orElseGet(() -> new Read.Accepted<>(value));
  }

  /** Reads the query of a request's target. */
  static <T> Read<T> readQuery(String raw, Function<Query, T> reader) {
    var faults = new Faults();
    T value = reader.apply(Query.parse(raw, faults));
    return faults
        .problem()
        .<Read<T>>map(Read.Rejected::new)
        .orElseGet(() -> new Read.Accepted<>(value));
  }

  private static ObjectNode object(byte[] bytes, Faults faults) {
    if (bytes.length == 0) {
      return Json.object();
    }
    try {
      JsonNode parsed = Json.parse(bytes);
      if (parsed instanceof ObjectNode object) {
        return object;
      }
      faults.only(BODY, "must be a JSON object", "object_type");
    } catch (JsonProcessingException e) {
      // Its message can quote the body, which may hold secrets.
      faults.only(BODY, "is no valid JSON within the limits", "json_invalid");
    } catch (IOException e) {
      faults.only(BODY, "is no valid UTF-8", "json_invalid");
    }
    return Json.object();
  }
}
