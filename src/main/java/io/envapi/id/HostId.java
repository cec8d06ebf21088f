package io.envapi.id;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/** A host: the identity of a data root, not of a process or a machine. */
public record HostId(@JsonValue String value) {

  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public HostId {
    if (value.isEmpty()) {
      throw new IllegalArgumentException("empty id");
    }
  }

  @Override
  public String toString() {
    return value;
  }
}
