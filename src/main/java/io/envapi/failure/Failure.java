package io.envapi.failure;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import java.util.List;

/**
 * Why a request was refused. Carries only what a caller may see: no host path, no secret, no text
 * of an exception.
 */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "type")
@JsonSubTypes({
  @JsonSubTypes.Type(value = Failure.NotFound.class, name = "not-found"),
  @JsonSubTypes.Type(value = Failure.PathOutsideWorkspace.class, name = "path-outside-workspace"),
  @JsonSubTypes.Type(value = Failure.FileChanged.class, name = "file-changed"),
  @JsonSubTypes.Type(value = Failure.Invalid.class, name = "invalid"),
  @JsonSubTypes.Type(value = Failure.InvalidLimit.class, name = "invalid-limit"),
  @JsonSubTypes.Type(value = Failure.InvalidSignal.class, name = "invalid-signal"),
  @JsonSubTypes.Type(value = Failure.InvalidQuota.class, name = "invalid-quota"),
  @JsonSubTypes.Type(value = Failure.InvalidCwd.class, name = "invalid-cwd"),
  @JsonSubTypes.Type(value = Failure.Ambiguous.class, name = "ambiguous"),
  @JsonSubTypes.Type(value = Failure.TooLarge.class, name = "too-large"),
  @JsonSubTypes.Type(value = Failure.Binary.class, name = "binary"),
  @JsonSubTypes.Type(value = Failure.Conflict.class, name = "conflict"),
  @JsonSubTypes.Type(value = Failure.ShellBusy.class, name = "shell-busy"),
  @JsonSubTypes.Type(value = Failure.ShellNotRunning.class, name = "shell-not-running"),
  @JsonSubTypes.Type(value = Failure.EnvironmentArchived.class, name = "environment-archived"),
  @JsonSubTypes.Type(value = Failure.NetworkDisabled.class, name = "network-disabled"),
  @JsonSubTypes.Type(value = Failure.QuotaExceeded.class, name = "quota-exceeded"),
  @JsonSubTypes.Type(value = Failure.SandboxFailed.class, name = "sandbox-failed"),
  @JsonSubTypes.Type(value = Failure.InputNotRead.class, name = "input-not-read"),
  @JsonSubTypes.Type(value = Failure.HostUnavailable.class, name = "host-unavailable"),
  @JsonSubTypes.Type(value = Failure.NoCapacity.class, name = "no-capacity"),
  @JsonSubTypes.Type(value = Failure.JournalUnavailable.class, name = "journal-unavailable"),
  @JsonSubTypes.Type(value = Failure.KeyringUnavailable.class, name = "keyring-unavailable"),
  @JsonSubTypes.Type(
      value = Failure.PreferencesUnavailable.class,
      name = "preferences-unavailable"),
  @JsonSubTypes.Type(value = Failure.AuditUnavailable.class, name = "audit-unavailable"),
  @JsonSubTypes.Type(value = Failure.Unauthorized.class, name = "unauthorized"),
  @JsonSubTypes.Type(value = Failure.StorageFull.class, name = "storage-full"),
  @JsonSubTypes.Type(value = Failure.InOperation.class, name = "in-operation"),
  @JsonSubTypes.Type(value = Failure.Internal.class, name = "internal"),
})
public sealed interface Failure {

  /** What kind of thing an id or pid was meant to name. */
  enum Kind {
    ENVIRONMENT,
    SHELL,
    COMMAND,
    PROCESS,
    FILE
  }

  /** Unknown, or somebody else's: the two answer alike. {@code id} is what the caller sent. */
  record NotFound(Kind kind, String id) implements Failure {}

  /** A path that leaves the workspace or goes through a symbolic link; {@code path} as sent. */
  record PathOutsideWorkspace(String path) implements Failure {}

  /** An {@code If-Match} that did not hold. */
  record FileChanged() implements Failure {}

  /** A value the caller can correct; {@code location} as {@code ["body", "name"]}. */
  record Invalid(List<String> location, String message) implements Failure {
    public Invalid {
      location = List.copyOf(location);
    }
  }

  /** Something over a fixed bound, in bytes. */
  record InvalidLimit(String message, long limit) implements Failure {}

  record InvalidSignal(String signal) implements Failure {}

  /** {@code quota} is the offending name. */
  record InvalidQuota(String quota, String message) implements Failure {}

  /** A working directory that is missing or is no directory; {@code cwd} as sent. */
  record InvalidCwd(String cwd) implements Failure {}

  /** An edit whose text is not there exactly once; the 1-based lines where it is. */
  record Ambiguous(List<Integer> occurrences) implements Failure {
    public Ambiguous {
      occurrences = List.copyOf(occurrences);
    }
  }

  /** A file too large for what was asked; {@code size} in bytes. */
  record TooLarge(long size) implements Failure {}

  /** A file that is not text where text is needed. */
  record Binary() implements Failure {}

  record Conflict(String message) implements Failure {}

  /** {@code command} is the id of the running one. */
  record ShellBusy(String command) implements Failure {}

  record ShellNotRunning() implements Failure {}

  record EnvironmentArchived() implements Failure {}

  record NetworkDisabled() implements Failure {}

  /** {@code limit} is the quota's name. */
  record QuotaExceeded(String limit, long current, long maximum) implements Failure {}

  /** A process could not be started; {@code message} is fixed text. */
  record SandboxFailed(String message) implements Failure {}

  /**
   * Nothing reads the input; {@code offset} of its bytes were taken, of all that were ever sent.
   */
  record InputNotRead(long offset) implements Failure {}

  record HostUnavailable(int retryAfterSeconds) implements Failure {}

  record NoCapacity(int retryAfterSeconds) implements Failure {}

  record JournalUnavailable(int retryAfterSeconds) implements Failure {}

  /** {@code message} is fixed text or the keyring's own detail. */
  record KeyringUnavailable(String message) implements Failure {}

  /** The settings service refuses, or cannot be asked what must not be guessed; fixed text. */
  record PreferencesUnavailable(String message) implements Failure {}

  /**
   * The audit log takes no lines.
   *
   * @param done the action was begun before that was known
   */
  record AuditUnavailable(boolean done) implements Failure {}

  /** The token was not accepted, for whatever reason. */
  record Unauthorized() implements Failure {}

  /** Why one of several operations, by its place from 0 on, was refused, and with it all. */
  record InOperation(int index, Failure why) implements Failure {}

  /** The file system has no room left. */
  record StorageFull() implements Failure {}

  /** A bug of the service; the log knows more. */
  record Internal() implements Failure {}

  /** A one-line answer for a member that is wrong. */
  static Failure invalid(String message, String... location) {
    return new Invalid(List.of(location), message);
  }
}
