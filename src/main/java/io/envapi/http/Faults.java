package io.envapi.http;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.envapi.failure.Failure;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What is wrong with the parts of one request, collected so that one answer names it all. */
final class Faults {

  /**
   * One wrong part.
   *
   * @param location as {@code ["body", "name"]}
   * @param type a stable word for the kind of fault
   */
  record Fault(List<String> location, String message, String type) {

    Fault {
      location = List.copyOf(location);
    }

    ObjectNode json() {
      ObjectNode json = Json.object();
      json.set("loc", Json.texts(location));
      return json.put("msg", message).put("type", type);
    }
  }

  private final List<Fault> found = new ArrayList<>();
  private Optional<Failure> refusal = Optional.empty();
  private boolean complete;

  void add(List<String> location, String message, String type) {
    if (!complete) {
      found.add(new Fault(location, message, type));
    }
  }

  /** A fault that explains every other, which are not worth telling. */
  void only(List<String> location, String message, String type) {
    found.clear();
    add(location, message, type);
    complete = true;
  }

  /** A fault with members of its own; told when every part has the right form. */
  void refuse(Failure failure) {
    if (refusal.isEmpty()) {
      refusal = Optional.of(failure);
    }
  }

  /** The answer to a request that has faults; empty when it has none. */
  Optional<Problem> problem() {
    return found.isEmpty() ? refusal.map(Problems::of) : Optional.of(Problems.invalid(found));
  }
}
