package io.envapi.sandbox;

/** A sandbox that could not be built; the reason is for the operator alone. */
final class SandboxException extends Exception {

  private final String reason;

  SandboxException(String reason) {
    super(reason);
    this.reason = reason;
  }

  String reason() {
    return reason;
  }
}
