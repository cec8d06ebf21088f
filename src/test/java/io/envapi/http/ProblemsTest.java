package io.envapi.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.envapi.failure.Failure;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class ProblemsTest {

  /** The wire's table of codes. */
  private static final Map<String, Integer> CODES =
      Map.ofEntries(
          Map.entry("unauthorized", 401),
          Map.entry("forbidden", 403),
          Map.entry("not_found", 404),
          Map.entry("method_not_allowed", 405),
          Map.entry("http_error", 400),
          Map.entry("path_outside_workspace", 400),
          Map.entry("file_changed", 412),
          Map.entry("validation_error", 422),
          Map.entry("conflict", 409),
          Map.entry("shell_busy", 409),
          Map.entry("shell_not_running", 409),
          Map.entry("environment_archived", 409),
          Map.entry("network_disabled", 409),
          Map.entry("quota_exceeded", 409),
          Map.entry("keyring_unavailable", 503),
          Map.entry("preferences_unavailable", 503),
          Map.entry("sandbox_error", 500),
          Map.entry("internal_error", 500),
          Map.entry("host_unavailable", 503),
          Map.entry("audit_unavailable", 503),
          Map.entry("no_capacity", 503),
          Map.entry("journal_unavailable", 503),
          Map.entry("idempotency_conflict", 409),
          Map.entry("too_many_requests", 429),
          Map.entry("payload_too_large", 413),
          Map.entry("insufficient_storage", 507));

  static Stream<Arguments> failures() {
    return Stream.of(
        failure(
            new Failure.NotFound(Failure.Kind.ENVIRONMENT, "env_1"),
            "not_found",
            "{\"environment_id\":\"env_1\"}"),
        failure(
            new Failure.NotFound(Failure.Kind.SHELL, "sh_1"),
            "not_found",
            "{\"shell_id\":\"sh_1\"}"),
        failure(
            new Failure.NotFound(Failure.Kind.COMMAND, "cmd_1"),
            "not_found",
            "{\"command_id\":\"cmd_1\"}"),
        failure(new Failure.NotFound(Failure.Kind.PROCESS, "7"), "not_found", "{\"pid\":7}"),
        failure(
            new Failure.NotFound(Failure.Kind.PROCESS, "not-a-pid"),
            "not_found",
            "{\"pid\":\"not-a-pid\"}"),
        failure(new Failure.NotFound(Failure.Kind.FILE, "a/b"), "not_found", "{\"path\":\"a/b\"}"),
        failure(
            new Failure.PathOutsideWorkspace("../x"),
            "path_outside_workspace",
            "{\"path\":\"../x\"}"),
        failure(new Failure.FileChanged(), "file_changed", "{}"),
        failure(
            Failure.invalid("is odd", "body", "data"),
            "validation_error",
            "{\"errors\":[{\"loc\":[\"body\",\"data\"],\"msg\":\"is odd\",\"type\":\"value_error\"}]}"),
        failure(new Failure.InvalidLimit("m", 5), "validation_error", "{\"limit\":5}"),
        failure(new Failure.InvalidSignal("X"), "validation_error", "{\"signal\":\"X\"}"),
        failure(new Failure.InvalidQuota("q", "m"), "validation_error", "{\"quota\":\"q\"}"),
        failure(new Failure.InvalidCwd("c"), "validation_error", "{\"cwd\":\"c\"}"),
        failure(
            new Failure.Ambiguous(List.of(1, 3)), "validation_error", "{\"occurrences\":[1,3]}"),
        failure(new Failure.Ambiguous(List.of()), "validation_error", "{\"occurrences\":[]}"),
        failure(new Failure.TooLarge(9), "validation_error", "{\"size\":9}"),
        failure(new Failure.Binary(), "validation_error", "{\"is_binary\":true}"),
        failure(new Failure.Conflict("it is there"), "conflict", "{}"),
        failure(new Failure.ShellBusy("cmd_1"), "shell_busy", "{\"command_id\":\"cmd_1\"}"),
        failure(new Failure.ShellNotRunning(), "shell_not_running", "{}"),
        failure(new Failure.EnvironmentArchived(), "environment_archived", "{}"),
        failure(new Failure.NetworkDisabled(), "network_disabled", "{}"),
        failure(
            new Failure.QuotaExceeded("max_disk_bytes", 33, 32),
            "quota_exceeded",
            "{\"limit\":\"max_disk_bytes\",\"current\":33,\"maximum\":32}"),
        failure(new Failure.SandboxFailed("m"), "sandbox_error", "{}"),
        failure(new Failure.InputNotRead(65536), "sandbox_error", "{\"offset\":65536}"),
        failure(new Failure.HostUnavailable(5), "host_unavailable", "{}"),
        failure(new Failure.NoCapacity(5), "no_capacity", "{}"),
        failure(new Failure.JournalUnavailable(5), "journal_unavailable", "{}"),
        failure(new Failure.KeyringUnavailable("m"), "keyring_unavailable", "{}"),
        failure(new Failure.PreferencesUnavailable("m"), "preferences_unavailable", "{}"),
        failure(new Failure.AuditUnavailable(false), "audit_unavailable", "{}"),
        failure(new Failure.Unauthorized(), "unauthorized", "{}"),
        failure(new Failure.StorageFull(), "insufficient_storage", "{}"),
        failure(
            new Failure.InOperation(2, new Failure.FileChanged()),
            "file_changed",
            "{\"errors\":[{\"loc\":[\"body\",\"operations\",\"2\"],"
                + "\"msg\":\"the file is not what If-Match or If-None-Match wants\","
                + "\"type\":\"value_error\"}]}"),
        failure(new Failure.Internal(), "internal_error", "{}"));
  }

  @ParameterizedTest
  @MethodSource("failures")
  void eachFailureHasItsCodeAndItsMembers(Failure failure, String code, String members) {
    Problem problem = Problems.of(failure);

    assertThat(problem.code().label()).isEqualTo(code);
    assertThat(problem.status()).isEqualTo(CODES.get(code));
    assertThat(problem.members().toString()).isEqualTo(members);
    assertThat(problem.detail()).isNotBlank();
    assertThat(problem.code().title()).isNotBlank();
  }

  @Test
  void everyFailureIsTried() {
    var tried =
        failures()
            .map(arguments -> arguments.get()[0].getClass().getName())
            .collect(Collectors.toSet());

    assertThat(Failure.class.getPermittedSubclasses())
        .isNotEmpty()
        .allMatch(failure -> tried.contains(failure.getName()));
  }

  @Test
  void theCodesAreThoseOfTheContract() {
    var codes =
        Arrays.stream(ProblemCode.values())
            .collect(Collectors.toMap(ProblemCode::label, ProblemCode::status));

    assertThat(codes).isEqualTo(CODES);
  }

  @Test
  void whatPassesByItselfSaysWhenToComeBack() {
    for (Failure failure :
        List.of(
            new Failure.HostUnavailable(7),
            new Failure.NoCapacity(7),
            new Failure.JournalUnavailable(7))) {
      assertThat(Problems.of(failure).headers())
          .extracting(header -> header.name() + ": " + header.value())
          .containsExactly("Retry-After: 7");
    }
  }

  @Test
  void aRefusedTokenIsToldNothing() {
    assertThat(Problems.unauthorized().body("/v1/environments").toString())
        .isEqualTo(
            "{\"type\":\"urn:environments-api:error:unauthorized\",\"title\":\"Unauthorized\","
                + "\"status\":401,\"detail\":\"the token was not accepted\","
                + "\"code\":\"unauthorized\",\"instance\":\"/v1/environments\"}");
  }

  private static Arguments failure(Failure failure, String code, String members) {
    return Arguments.of(failure, code, members);
  }
}
