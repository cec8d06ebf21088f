package io.envapi.http;

import java.util.Locale;

/** The kinds of error callers can tell apart, each with its status (RFC 9110) and its title. */
enum ProblemCode {
  UNAUTHORIZED(401, "Unauthorized"),
  FORBIDDEN(403, "Forbidden"),
  NOT_FOUND(404, "Not found"),
  METHOD_NOT_ALLOWED(405, "Method not allowed"),
  /** Whatever is refused below the routes: the status is the one it was refused with. */
  HTTP_ERROR(400, "Bad request"),
  PATH_OUTSIDE_WORKSPACE(400, "Path outside the workspace"),
  FILE_CHANGED(412, "File changed"),
  PAYLOAD_TOO_LARGE(413, "Payload too large"),
  VALIDATION_ERROR(422, "Validation error"),
  CONFLICT(409, "Conflict"),
  SHELL_BUSY(409, "Shell busy"),
  SHELL_NOT_RUNNING(409, "Shell not running"),
  ENVIRONMENT_ARCHIVED(409, "Environment archived"),
  NETWORK_DISABLED(409, "Network disabled"),
  QUOTA_EXCEEDED(409, "Quota exceeded"),
  IDEMPOTENCY_CONFLICT(409, "Idempotency conflict"),
  TOO_MANY_REQUESTS(429, "Too many requests"),
  KEYRING_UNAVAILABLE(503, "Keyring unavailable"),
  PREFERENCES_UNAVAILABLE(503, "Preferences unavailable"),
  AUDIT_UNAVAILABLE(503, "Audit unavailable"),
  HOST_UNAVAILABLE(503, "Host unavailable"),
  NO_CAPACITY(503, "No capacity"),
  JOURNAL_UNAVAILABLE(503, "Journal unavailable"),
  INSUFFICIENT_STORAGE(507, "Insufficient storage"),
  SANDBOX_ERROR(500, "Sandbox error"),
  INTERNAL_ERROR(500, "Internal error");

  private final int status;
  private final String title;

  ProblemCode(int status, String title) {
    this.status = status;
    this.title = title;
  }

  int status() {
    return status;
  }

  String title() {
    return title;
  }

  /** As it stands in an answer. */
  String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
