package io.envapi.failure;

import com.fasterxml.jackson.annotation.JsonAutoDetect;
import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A part of the service cannot be used at all: the answer of an ask whose replies have no refusal.
 * Travels between hosts as its failure alone.
 */
@JsonAutoDetect(
    getterVisibility = JsonAutoDetect.Visibility.NONE,
    isGetterVisibility = JsonAutoDetect.Visibility.NONE,
    fieldVisibility = JsonAutoDetect.Visibility.NONE)
public final class Unavailable extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final transient Failure failure;

  @JsonCreator
  public Unavailable(@JsonProperty("failure") Failure failure) {
    super(failure.toString());
    this.failure = failure;
  }

  @JsonProperty("failure")
  public Failure failure() {
    return failure == null ? new Failure.Internal() : failure;
  }
}
