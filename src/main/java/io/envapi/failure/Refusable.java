package io.envapi.failure;

/** A message that somebody waits for an answer to. */
public interface Refusable {

  /** Answers that the message had no effect. */
  void refuse(Failure failure);
}
