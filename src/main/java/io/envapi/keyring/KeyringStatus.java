package io.envapi.keyring;

import java.util.Optional;

/** Whether tokens can be verified, in words that name no address and quote no transport. */
public enum KeyringStatus {
  /** Keys are held and the keyring answered when last asked. */
  OK("ok", ""),
  /** The keyring is out of reach; the keys held still verify. */
  STALE("stale", "keyring is unreachable; held signing keys are in use"),
  /** No usable key is held and none could be fetched. */
  UNREACHABLE("unreachable", KeyringStatus.NO_KEYS);

  static final String NO_KEYS = "keyring's signing keys could not be fetched";

  private final String code;
  private final String error;

  KeyringStatus(String code, String error) {
    this.code = code;
    this.error = error;
  }

  public String code() {
    return code;
  }

  /** What is wrong, as fixed text. */
  public Optional<String> error() {
    return error.isEmpty() ? Optional.empty() : Optional.of(error);
  }

  public boolean isReady() {
    return this != UNREACHABLE;
  }
}
