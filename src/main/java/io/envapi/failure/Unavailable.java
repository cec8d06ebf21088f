package io.envapi.failure;

/**
 * A part of the service cannot be used at all: the answer of an ask whose replies have no refusal.
 */
public final class Unavailable extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final transient Failure failure;

  public Unavailable(Failure failure) {
    super(failure.toString());
    this.failure = failure;
  }

  public Failure failure() {
    return failure == null ? new Failure.Internal() : failure;
  }
}
