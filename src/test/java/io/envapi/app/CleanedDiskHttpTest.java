package io.envapi.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** An environment over its disk quota is of use again once there is room, with no reaper's help. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class CleanedDiskHttpTest {

  private static final String TRUE = "{\"command\":\"true\"}";

  @TempDir static Path temp;
  private RunningApi api;
  private String environment = "";
  private String exec = "";

  @BeforeAll
  void start() throws Exception {
    api =
        RunningApi.start(
            temp,
            Map.of(
                "ENVAPI_MAX_DISK_BYTES", "100000",
                "ENVAPI_MAX_ENVIRONMENTS_PER_PROFILE", "20",
                "ENVAPI_REAPER_INTERVAL_SECONDS", "3600",
                "ENVAPI_OPERATOR_ACCOUNTS", "operator"));
  }

  @AfterAll
  void stop() throws Exception {
    api.close();
  }

  private HttpResponse<String> post(String target, String body) throws Exception {
    return api.call("alice", "POST", target, body);
  }

  /** Over its quota, as is known, until {@code f} is gone. */
  @BeforeEach
  void fullEnvironment() throws Exception {
    environment = api.environment();
    String shell = RunningApi.json(post(environment + "/shells", "{}")).path("id").asText();
    exec = "/v1/shells/" + shell + "/exec";
    String fill = "head -c 300000 /dev/zero >f; (until [ -e go ]; do sleep 0.1; done; rm f) &";
    assertThat(post(exec, "{\"command\":\"" + fill + "\",\"wait_ms\":20000}").statusCode())
        .isEqualTo(200);
    assertThat(api.call("alice", "GET", environment + "/usage", "").statusCode()).isEqualTo(200);
    assertThat(post(exec, TRUE).statusCode()).isEqualTo(409);
  }

  private void write(String account, String target, String path, String content) throws Exception {
    String body = "{\"path\":\"%s\",\"content\":\"%s\"}".formatted(path, content);
    var written = api.call(account, "PUT", target + "/files/content", body);
    assertThat(written.statusCode()).as(written.body()).isEqualTo(200);
  }

  @Test
  void deletingAFileMakesRoomAtOnce() throws Exception {
    assertThat(api.call("alice", "DELETE", environment + "/files/content?path=f", "").statusCode())
        .isEqualTo(200);

    assertThat(post(exec, TRUE).statusCode()).isEqualTo(200);
    assertThat(post(environment + "/shells", "{}").statusCode()).isEqualTo(201);
  }

  @Test
  void overwritingAFileMakesRoomAtOnce() throws Exception {
    write("alice", environment, "f", "x");

    assertThat(post(exec, TRUE).statusCode()).isEqualTo(200);
  }

  @Test
  void deletingADirectoryMakesRoomAtOnce() throws Exception {
    String move = "{\"source\":\"f\",\"destination\":\"d/f\"}";
    assertThat(post(environment + "/files/move", move).statusCode()).isEqualTo(200);
    assertThat(post(exec, TRUE).statusCode()).isEqualTo(409);
    String directory = environment + "/files/content?path=d&recursive=true";
    assertThat(api.call("alice", "DELETE", directory, "").statusCode()).isEqualTo(200);

    assertThat(post(exec, TRUE).statusCode()).isEqualTo(200);
  }

  @Test
  void whatAProcessRemovedIsSeenBeforeAnythingIsRefused() throws Exception {
    write("alice", environment, "go", "");
    Path file = api.workspace(environment).resolve("f");
    await().until(() -> !file.toFile().exists());

    String id = environment.substring(environment.lastIndexOf('/') + 1);
    String once = "{\"environment_id\":\"" + id + "\",\"command\":\"true\"}";
    // A figure is used for as long as a second.
    await().until(() -> post("/v1/exec", once).statusCode() == 200);
    assertThat(post(exec, TRUE).statusCode()).isEqualTo(200);
  }

  @Test
  void aQuotaLoweredBelowWhatTheFilesApiWroteCountsAtOnce() throws Exception {
    var made = api.call("bob", "POST", "/v1/environments", "{\"name\":\"t\"}");
    String other = "/v1/environments/" + RunningApi.json(made).path("id").asText();
    String shell =
        RunningApi.json(api.call("bob", "POST", other + "/shells", "{}")).path("id").asText();
    write("bob", other, "f", "x".repeat(60_000));
    String lower = "{\"overrides\":{\"max_disk_bytes\":1000}}";
    assertThat(api.call("operator", "PUT", "/v1/admin/quotas/bob", lower).statusCode())
        .isEqualTo(200);
    assertThat(api.call("bob", "POST", "/v1/shells/" + shell + "/exec", TRUE).statusCode())
        .isEqualTo(409);
    assertThat(api.call("bob", "POST", other + "/shells", "{}").statusCode()).isEqualTo(409);
  }

  @Test
  void whatIsStillOverIsRefusedAgain() throws Exception {
    // Longer than a figure is used, so that it was measured again meanwhile.
    await()
        .during(Duration.ofMillis(1500))
        .until(
            () ->
                post(exec, TRUE).statusCode() == 409
                    && post(environment + "/shells", "{}").statusCode() == 409);
  }
}
