package io.envapi.idempotency;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import io.envapi.id.EnvironmentId;

/** What became of the requests that came with a key. Keys stand as digests. Times are epoch ms. */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "type")
@JsonSubTypes({
  @JsonSubTypes.Type(value = KeyEvent.KeyClaimed.class, name = "key-claimed"),
  @JsonSubTypes.Type(value = KeyEvent.KeyAnswered.class, name = "key-answered"),
  @JsonSubTypes.Type(value = KeyEvent.KeyReleased.class, name = "key-released"),
  @JsonSubTypes.Type(value = KeyEvent.KeyInterrupted.class, name = "key-interrupted"),
})
public sealed interface KeyEvent {

  /**
   * A request is about to be carried out.
   *
   * @param request the digest of all that makes it this request
   * @param claimant who carries it out
   * @param environment the id for an environment that it makes
   */
  record KeyClaimed(String key, String request, String claimant, EnvironmentId environment, long at)
      implements KeyEvent {}

  record KeyAnswered(String key, StoredAnswer answer) implements KeyEvent {}

  /** It had no effect; the key is as if never used. */
  record KeyReleased(String key) implements KeyEvent {}

  /** It ended, and nobody can say whether it had an effect. */
  record KeyInterrupted(String key) implements KeyEvent {}
}
