package io.envapi.id;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/** An account: the subject of its owner's tokens, taken as it is. */
public record AccountId(@JsonValue String value) {

  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public AccountId {
    if (value.isEmpty()) {
      throw new IllegalArgumentException("empty id");
    }
  }

  @Override
  public String toString() {
    return value;
  }
}
