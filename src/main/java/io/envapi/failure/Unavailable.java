package io.envapi.failure;

import com.fasterxml.jackson.annotation.JsonAutoDetect;
import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.Optional;
import java.util.concurrent.CompletionException;

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

  /** The failure of an ask that failed with one; empty where it failed otherwise. */
  public static Optional<Failure> of(Throwable error) {
    Throwable cause =
        error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
    return cause instanceof Unavailable unavailable
        ? Optional.of(unavailable.failure())
        : Optional.empty();
  }

  @JsonProperty("failure")
  public Failure failure() {
    return failure == null ? new Failure.Internal() : failure;
  }
}
