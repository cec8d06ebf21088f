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

  @Test
  void deletingAFileMakesRoomAtOnce() throws Exception {
    assertThat(api.call("alice", "DELETE", environment + "/files/content?path=f", "").statusCode())
        .isEqualTo(200);

    assertThat(post(exec, TRUE).statusCode()).isEqualTo(200);
    assertThat(post(environment + "/shells", "{}").statusCode()).isEqualTo(201);
  }

  @Test
  void overwritingAFileMakesRoomAtOnce() throws Exception {
    var write =
        api.call(
            "alice", "PUT", environment + "/files/content", "{\"path\":\"f\",\"content\":\"x\"}");
    assertThat(write.statusCode()).as(write.body()).isEqualTo(200);

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
    var write =
        api.call(
            "alice", "PUT", environment + "/files/content", "{\"path\":\"go\",\"content\":\"\"}");
    assertThat(write.statusCode()).as(write.body()).isEqualTo(200);
    Path file = api.workspace(environment).resolve("f");
    await().until(() -> !file.toFile().exists());
    // A figure is used for as long as a second.
    Thread.sleep(Duration.ofMillis(1100));

    String once = environment.substring(environment.lastIndexOf('/') + 1);
    var ran = post("/v1/exec", "{\"environment_id\":\"" + once + "\",\"command\":\"true\"}");
    assertThat(ran.statusCode()).as(ran.body()).isEqualTo(200);
    assertThat(post(exec, TRUE).statusCode()).isEqualTo(200);
  }

  @Test
  void aQuotaLoweredBelowWhatTheFilesApiWroteCountsAtOnce() throws Exception {
    var made = api.call("bob", "POST", "/v1/environments", "{\"name\":\"t\"}");
    String other = "/v1/environments/" + RunningApi.json(made).path("id").asText();
    String shell =
        RunningApi.json(api.call("bob", "POST", other + "/shells", "{}")).path("id").asText();
    String content = "{\"path\":\"f\",\"content\":\"" + "x".repeat(60_000) + "\"}";
    assertThat(api.call("bob", "PUT", other + "/files/content", content).statusCode())
        .isEqualTo(200);
    String lower = "{\"overrides\":{\"max_disk_bytes\":1000}}";
    assertThat(api.call("operator", "PUT", "/v1/admin/quotas/bob", lower).statusCode())
        .isEqualTo(200);
    assertThat(api.call("bob", "POST", "/v1/shells/" + shell + "/exec", TRUE).statusCode())
        .isEqualTo(409);
    assertThat(api.call("bob", "POST", other + "/shells", "{}").statusCode()).isEqualTo(409);
  }

  @Test
  void whatIsStillOverIsRefusedAgain() throws Exception {
    Thread.sleep(Duration.ofMillis(1100));
    for (int i = 0; i < 5; i++) {
      assertThat(post(exec, TRUE).statusCode()).isEqualTo(409);
      assertThat(post(environment + "/shells", "{}").statusCode()).isEqualTo(409);
    }
  }
}
