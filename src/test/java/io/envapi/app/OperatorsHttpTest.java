package io.envapi.app;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** What operators may do, and what is written of it. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class OperatorsHttpTest {

  @TempDir static Path temp;
  private RunningApi api;

  @BeforeAll
  void start() throws Exception {
    api = RunningApi.start(temp, Map.of("ENVAPI_OPERATOR_ACCOUNTS", "root-op"));
  }

  @AfterAll
  void stop() throws Exception {
    api.close();
  }

  private JsonNode ok(String account, String method, String target, String body) throws Exception {
    HttpResponse<String> response = api.call(account, method, target, body);
    assertThat(response.statusCode()).as("%s %s", target, response.body()).isBetween(200, 299);
    return response.body().isEmpty()
        ? new com.fasterxml.jackson.databind.node.ObjectNode(
            com.fasterxml.jackson.databind.node.JsonNodeFactory.instance)
        : RunningApi.json(response);
  }

  private String environment(String account) throws Exception {
    return ok(account, "POST", "/v1/environments", "{\"name\":\"n\"}").path("id").asText();
  }

  private String shell(String account, String environment) throws Exception {
    return ok(account, "POST", "/v1/environments/" + environment + "/shells", "{}")
        .path("id")
        .asText();
  }

  private JsonNode events(String query) throws Exception {
    return ok("root-op", "GET", "/v1/admin/audit?" + query, "").path("events");
  }

  @Test
  void hostsAreListedWithoutAnythingOfTheirDisks() throws Exception {
    String environment = environment("hosts-alice");
    shell("hosts-alice", environment);

    JsonNode hosts = ok("root-op", "GET", "/v1/admin/hosts", "").path("hosts");

    assertThat(hosts).hasSize(1);
    JsonNode host = hosts.get(0);
    assertThat(host.path("host_id").asText()).isNotBlank();
    assertThat(host.path("sandbox_tier").asText()).isIn("directory", "user", "namespace");
    assertThat(host.path("environments").asInt()).isPositive();
    assertThat(host.path("shells").asInt()).isPositive();
    assertThat(host.path("up_since").asDouble())
        .isBetween(1e9, System.currentTimeMillis() / 1000.0 + 1);
    assertThat(host.path("layers").path("cgroup").asText()).isNotBlank();
    assertThat(hosts.toString()).doesNotContain(temp.toString()).doesNotContain("127.0.0.1");
  }

  @Test
  void everyShellOfAnybodysEnvironmentIsClosed() throws Exception {
    String environment = environment("close-alice");
    List<String> shells =
        List.of(shell("close-alice", environment), shell("close-alice", environment));
    ok(
        "close-alice",
        "POST",
        "/v1/shells/" + shells.getFirst() + "/exec",
        "{\"command\":\"sleep 1000\"}");

    JsonNode closed = ok("root-op", "POST", "/v1/admin/environments/" + environment + "/close", "");

    assertThat(closed.path("shells_running").asInt()).isZero();
    assertThat(closed.path("state").asText()).isEqualTo("active");
    for (String shell : shells) {
      assertThat(ok("close-alice", "GET", "/v1/shells/" + shell, "").path("state").asText())
          .isEqualTo("closed");
    }
    shell("close-alice", environment);
    JsonNode event = events("action=environment.close&environment_id=" + environment).get(0);
    assertThat(event.path("account_id").asText()).isEqualTo("root-op");
    assertThat(event.path("target_account_id").asText()).isEqualTo("close-alice");
    assertThat(event.path("outcome").asText()).isEqualTo("ok");
    assertThat(event.path("request_id").asText()).isNotBlank();
  }

  @Test
  void anybodysEnvironmentIsArchivedWithItsFilesGoneAndItsPlaceFree() throws Exception {
    ok(
        "root-op",
        "PUT",
        "/v1/admin/quotas/archive-alice",
        "{\"overrides\":{\"max_environments_per_account\":1}}");
    String environment = environment("archive-alice");
    String shell = shell("archive-alice", environment);
    ok(
        "archive-alice",
        "PUT",
        "/v1/environments/" + environment + "/files/content",
        "{\"path\":\"a\",\"content\":\"x\"}");
    Path workspace = api.workspace("/" + environment);
    assertThat(workspace.resolve("a")).exists();
    String target = "/v1/admin/environments/" + environment + "/archive";

    JsonNode archived = ok("root-op", "POST", target, "");
    ok("root-op", "POST", target, "");

    assertThat(archived.path("state").asText()).isEqualTo("archived");
    assertThat(archived.path("archived_at").isNumber()).isTrue();
    assertThat(Files.exists(workspace.resolve("a"))).isFalse();
    assertThat(
            ok("archive-alice", "GET", "/v1/environments/" + environment, "")
                .path("shells_running")
                .asInt())
        .isZero();
    assertThat(
            api.call(
                    "archive-alice",
                    "POST",
                    "/v1/shells/" + shell + "/exec",
                    "{\"command\":\"true\"}")
                .statusCode())
        .isEqualTo(409);
    environment("archive-alice");
    JsonNode event = events("action=environment.archive&environment_id=" + environment).get(0);
    assertThat(event.path("target_account_id").asText()).isEqualTo("archive-alice");
  }

  @Test
  void othersAreForbiddenAndToldOf() throws Exception {
    String environment = environment("denied-alice");
    for (String[] each :
        new String[][] {
          {"GET", "/v1/admin/hosts"},
          {"GET", "/v1/admin/audit"},
          {"POST", "/v1/admin/environments/" + environment + "/close"},
          {"POST", "/v1/admin/environments/" + environment + "/archive"},
          {"POST", "/v1/admin/environments/env_000000000000/close"},
        }) {
      HttpResponse<String> refused = api.call("denied-alice", each[0], each[1], "");
      assertThat(refused.statusCode()).as(each[1]).isEqualTo(403);
      assertThat(refused.body()).contains("\"forbidden\"");
    }
    JsonNode events = events("account_id=denied-alice&action=admin.denied");
    assertThat(events).hasSize(5);
    assertThat(events.get(0).path("outcome").asText()).isEqualTo("forbidden");
    assertThat(events.get(0).path("route").asText()).isEqualTo("/v1/admin/hosts");
    assertThat(
            ok("denied-alice", "GET", "/v1/environments/" + environment, "").path("state").asText())
        .isEqualTo("active");
  }

  @Test
  void whatIsNotThereIsNotFound() throws Exception {
    for (String id : List.of("env_000000000000", "nonsense")) {
      assertThat(
              api.call("root-op", "POST", "/v1/admin/environments/" + id + "/archive", "")
                  .statusCode())
          .isEqualTo(404);
    }
  }

  @Test
  void everyPrivilegedActionIsWrittenWithItsRequest() throws Exception {
    String alice = "audit-alice";
    var sent =
        api.call(
            alice, "POST", "/v1/environments", "{\"name\":\"n\"}", "X-Request-Id", "req-audit-1");
    String environment = RunningApi.json(sent).path("id").asText();
    String at = "/v1/environments/" + environment;
    String shell = shell(alice, environment);
    String long512 = "true " + "x".repeat(2000);
    ok(alice, "POST", "/v1/shells/" + shell + "/exec", "{\"command\":\"" + long512 + "\"}");
    ok(alice, "POST", "/v1/shells/" + shell + "/wait", "{}");
    ok(alice, "POST", "/v1/exec", "{\"environment_id\":\"" + environment + "\",\"command\":\":\"}");
    ok(alice, "POST", "/v1/shells/" + shell + "/stdin", "{\"data\":\"abc\"}");
    ok(alice, "POST", "/v1/shells/" + shell + "/signal", "{}");
    int pid = ok(alice, "GET", "/v1/shells/" + shell, "").path("shell_pid").asInt();
    ok(alice, "POST", at + "/processes/" + pid + "/signal", "{\"signal\":\"URG\"}");
    String files = at + "/files";
    ok(alice, "PUT", files + "/content", "{\"path\":\"a\",\"content\":\"one\"}");
    ok(
        alice,
        "POST",
        files + "/edit",
        "{\"path\":\"a\",\"old_string\":\"one\",\"new_string\":\"two\"}");
    ok(alice, "POST", files + "/copy", "{\"source\":\"a\",\"destination\":\"b\"}");
    ok(alice, "POST", files + "/move", "{\"source\":\"b\",\"destination\":\"c\"}");
    ok(alice, "POST", files + "/directories", "{\"path\":\"d\"}");
    ok(alice, "PUT", files + "/raw?path=r", "raw");
    ok(
        alice,
        "POST",
        files + "/transaction",
        "{\"operations\":[{\"op\":\"write\",\"path\":\"t\",\"content\":\"x\"},"
            + "{\"op\":\"delete\",\"path\":\"d\"}]}");
    ok(alice, "DELETE", files + "/content?path=a", "");
    ok(alice, "DELETE", "/v1/shells/" + shell, "");
    ok(alice, "POST", at + "/reset", "");
    ok(alice, "DELETE", at, "");

    JsonNode events = events("account_id=" + alice + "&limit=1000");

    assertThat(events)
        .extracting(event -> event.path("action").asText())
        .containsExactly(
            "environment.create",
            "shell.open",
            "shell.exec",
            "shell.exec",
            "shell.stdin",
            "shell.signal",
            "process.signal",
            "file.write",
            "file.write",
            "file.write",
            "file.write",
            "file.mkdir",
            "file.write",
            "file.transaction",
            "file.delete",
            "shell.close",
            "environment.reset",
            "environment.delete");
    assertThat(events)
        .allSatisfy(
            event -> {
              assertThat(event.path("outcome").asText()).isEqualTo("ok");
              assertThat(event.path("request_id").asText()).isNotBlank();
              assertThat(event.path("environment_id").asText()).isEqualTo(environment);
            });
    assertThat(events.get(0).path("request_id").asText()).isEqualTo("req-audit-1");
    assertThat(events.get(2).path("command").asText()).isEqualTo(long512.substring(0, 512));
    assertThat(events.get(13).path("changes").toString())
        .isEqualTo("[\"file.delete d\",\"file.write t\"]");

    double since = events.get(6).path("ts").asDouble();
    assertThat(events("account_id=" + alice + "&since=" + String.format("%.3f", since)))
        .hasSizeBetween(12, 13);
    assertThat(events("environment_id=" + environment + "&limit=2")).hasSize(2);
    assertThat(api.call("root-op", "GET", "/v1/admin/audit?since=yesterday", "").statusCode())
        .isEqualTo(422);
  }

  @Test
  void whatWasOutOfBoundsIsWrittenAndWhatWasMerelyWrongIsNot() throws Exception {
    String bob = "bounds-bob";
    String environment = environment(bob);
    String files = "/v1/environments/" + environment + "/files/content";
    api.call(bob, "PUT", files, "{\"path\":\"../../x\",\"content\":\"\"}");
    api.call(bob, "PUT", files, "{\"path\":1}");
    api.call(
        bob,
        "POST",
        "/v1/environments",
        "{\"name\":\"n\",\"limits\":{\"max_cpu_seconds\":1000000000}}");
    api.call(bob, "DELETE", "/v1/environments/env_000000000000", "");

    JsonNode events = events("account_id=" + bob);

    assertThat(events)
        .extracting(e -> e.path("action").asText() + " " + e.path("outcome").asText())
        .containsExactly(
            "environment.create ok",
            "file.write path_outside_workspace",
            "environment.create quota_exceeded");
  }
}
