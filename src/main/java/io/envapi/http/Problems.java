package io.envapi.http;

import com.fasterxml.jackson.databind.node.ArrayNode;
import io.envapi.failure.Failure;
import java.util.ArrayList;
import java.util.List;
import java.util.SequencedSet;

/** Which error each failure is. The only place that knows. */
final class Problems {

  private static final int RETRY_SECONDS = 2;

  private Problems() {}

  static Problem brokenBody() {
    return http(400, "the body broke off");
  }

  static Problem of(Failure failure) {
    return switch (failure) {
      case Failure.NotFound(var kind, var id) -> notFound(kind, id);
      case Failure.PathOutsideWorkspace(var path) ->
          Problem.of(
                  ProblemCode.PATH_OUTSIDE_WORKSPACE,
                  "the path leaves the workspace or goes through a symbolic link")
              .with("path", path);
      case Failure.FileChanged() ->
          Problem.of(
              ProblemCode.FILE_CHANGED, "the file is not what If-Match or If-None-Match wants");
      case Failure.Invalid(var location, var message) ->
          invalid(List.of(new Faults.Fault(location, message, "value_error")));
      case Failure.InvalidLimit(var message, var limit) -> invalid(message).with("limit", limit);
      case Failure.InvalidSignal(var signal) ->
          invalid("there is no such signal").with("signal", signal);
      case Failure.InvalidQuota(var quota, var message) -> invalid(message).with("quota", quota);
      case Failure.InvalidCwd(var cwd) ->
          invalid("the working directory is missing or no directory").with("cwd", cwd);
      case Failure.Ambiguous(var lines) -> ambiguous(lines);
      case Failure.TooLarge(var size) -> invalid("the file is too large").with("size", size);
      case Failure.Binary() ->
          invalid("the file is not text").with(Json.object().put("is_binary", true));
      case Failure.Conflict(var message) -> Problem.of(ProblemCode.CONFLICT, message);
      case Failure.ShellBusy(var command) ->
          Problem.of(ProblemCode.SHELL_BUSY, "the shell is running a command")
              .with("command_id", command);
      case Failure.ShellNotRunning() ->
          Problem.of(ProblemCode.SHELL_NOT_RUNNING, "the shell has ended; open another");
      case Failure.EnvironmentArchived() ->
          Problem.of(
              ProblemCode.ENVIRONMENT_ARCHIVED, "the environment is archived; reset it to use it");
      case Failure.NetworkDisabled() ->
          Problem.of(ProblemCode.NETWORK_DISABLED, "environments here have no network access");
      case Failure.QuotaExceeded quota -> quotaExceeded(quota);
      case Failure.SandboxFailed(var message) -> Problem.of(ProblemCode.SANDBOX_ERROR, message);
      case Failure.InputNotRead(var offset) ->
          Problem.of(ProblemCode.SANDBOX_ERROR, "the shell takes no more input: nothing reads it")
              .with("offset", offset);
      case Failure.HostUnavailable(var seconds) ->
          Problem.of(ProblemCode.HOST_UNAVAILABLE, "the environment's host does not answer")
              .retryAfter(seconds);
      case Failure.NoCapacity(var seconds) ->
          Problem.of(ProblemCode.NO_CAPACITY, "no host has room for this").retryAfter(seconds);
      case Failure.JournalUnavailable(var seconds) ->
          Problem.of(ProblemCode.JOURNAL_UNAVAILABLE, "the journal takes no writes")
              .retryAfter(seconds);
      case Failure.KeyringUnavailable(var message) ->
          Problem.of(ProblemCode.KEYRING_UNAVAILABLE, message).retryAfter(RETRY_SECONDS);
      case Failure.PreferencesUnavailable(var message) ->
          Problem.of(ProblemCode.PREFERENCES_UNAVAILABLE, message).retryAfter(RETRY_SECONDS);
      case Failure.AuditUnavailable(var done) ->
          Problem.of(
                  ProblemCode.AUDIT_UNAVAILABLE,
                  done
                      ? "the audit log stopped taking lines while this was done: look before you"
                          + " repeat it"
                      : "the audit log takes no lines, so nothing that belongs in it is done")
              .retryAfter(RETRY_SECONDS);
      case Failure.Unauthorized() -> unauthorized();
      case Failure.InOperation(var index, var why) -> inOperation(index, why);
      case Failure.Internal() -> internal();
      case Failure.StorageFull() ->
          Problem.of(ProblemCode.INSUFFICIENT_STORAGE, "the file system has no room left");
    };
  }

  /** The problem of the one operation, and which it is. */
  private static Problem inOperation(int index, Failure why) {
    var location = new ArrayList<>(List.of("body", "operations", Integer.toString(index)));
    Problem problem = of(why);
    String message = problem.detail();
    if (why instanceof Failure.Invalid(var inside, var text)) {
      location.addAll(inside.subList(Math.min(1, inside.size()), inside.size()));
      message = text;
    }
    var fault = new Faults.Fault(location, message, "value_error");
    ArrayNode errors = Json.array().add(fault.json());
    return problem.with(Json.object().set("errors", errors));
  }

  /** One body for every token that is not accepted, so that it tells nothing. */
  static Problem unauthorized() {
    return Problem.of(ProblemCode.UNAUTHORIZED, "the token was not accepted")
        .header("WWW-Authenticate", "Bearer");
  }

  /** Of a stream whose reader was let in. */
  static Problem tokenExpired() {
    return Problem.of(ProblemCode.UNAUTHORIZED, "the token has expired");
  }

  static Problem apiKeyRefused() {
    return Problem.of(ProblemCode.UNAUTHORIZED, "the API key was not accepted")
        .with("header", "X-API-Key")
        .header("WWW-Authenticate", "Bearer");
  }

  /** For a client that has sent too many tokens that were refused. */
  static Problem tooManyRefused() {
    return Problem.of(ProblemCode.TOO_MANY_REQUESTS, "too many tokens of this client were refused")
        .retryAfter(1);
  }

  static Problem forbidden() {
    return Problem.of(ProblemCode.FORBIDDEN, "the account is no operator");
  }

  static Problem noSuchRoute() {
    return Problem.of(ProblemCode.NOT_FOUND, "there is nothing at this path");
  }

  static Problem wrongMethod(SequencedSet<String> allowed) {
    return Problem.of(ProblemCode.METHOD_NOT_ALLOWED, "the path does not take this method")
        .header("Allow", String.join(", ", allowed));
  }

  static Problem tooLarge(long maximum) {
    return Problem.of(
            ProblemCode.PAYLOAD_TOO_LARGE, "the body is larger than %d bytes".formatted(maximum))
        .with("limit", maximum);
  }

  /** A time-out within the service. */
  static Problem noAnswer() {
    return Problem.of(ProblemCode.HOST_UNAVAILABLE, "a part of the service did not answer in time")
        .retryAfter(RETRY_SECONDS);
  }

  /** For a stream that the end of the service ends. */
  static Problem stopping() {
    return Problem.of(ProblemCode.HOST_UNAVAILABLE, "the service is stopping")
        .with("retry_after", RETRY_SECONDS);
  }

  static Problem internal() {
    return Problem.of(ProblemCode.INTERNAL_ERROR, "the service failed to answer this request");
  }

  /** Refused below the routes, with {@code status}. */
  static Problem http(int status, String detail) {
    Problem plain = Problem.of(ProblemCode.HTTP_ERROR, detail);
    return new Problem(plain.code(), status, detail, plain.members(), plain.headers());
  }

  static Problem invalid(String detail) {
    return Problem.of(ProblemCode.VALIDATION_ERROR, detail);
  }

  /**
   * @param faults at least one
   */
  static Problem invalid(List<Faults.Fault> faults) {
    ArrayNode errors = Json.array();
    faults.forEach(fault -> errors.add(fault.json()));
    Faults.Fault first = faults.getFirst();
    String detail = String.join(".", first.location()) + ": " + first.message();
    return invalid(detail).with(Json.object().set("errors", errors));
  }

  private static Problem notFound(Failure.Kind kind, String id) {
    return switch (kind) {
      case ENVIRONMENT -> notFound("environment").with("environment_id", id);
      case SHELL -> notFound("shell").with("shell_id", id);
      case COMMAND -> notFound("command").with("command_id", id);
      case PROCESS -> noSuchProcess(id);
      case FILE -> notFound("file").with("path", id);
    };
  }

  private static Problem notFound(String what) {
    return Problem.of(ProblemCode.NOT_FOUND, "there is no such " + what);
  }

  /** The pid as a number; as it was sent where it is none. */
  private static Problem noSuchProcess(String pid) {
    Problem problem = notFound("process");
    try {
      return problem.with("pid", Long.parseLong(pid));
    } catch (NumberFormatException e) {
      return problem.with("pid", pid);
    }
  }

  private static Problem ambiguous(List<Integer> lines) {
    ArrayNode occurrences = Json.array();
    lines.forEach(occurrences::add);
    String detail =
        lines.isEmpty() ? "old_string is not in the file" : "old_string is there more than once";
    return invalid(detail).with(Json.object().set("occurrences", occurrences));
  }

  private static Problem quotaExceeded(Failure.QuotaExceeded quota) {
    String detail =
        "%s exceeded: current %d, maximum %d"
            .formatted(quota.limit(), quota.current(), quota.maximum());
    return Problem.of(ProblemCode.QUOTA_EXCEEDED, detail)
        .with("limit", quota.limit())
        .with("current", quota.current())
        .with("maximum", quota.maximum());
  }
}
