package io.envapi.sandbox;

/** A sandbox that could not be built; the message is for the operator alone. */
final class SandboxException extends Exception {
  SandboxException(String message) {
    super(message);
  }
}
