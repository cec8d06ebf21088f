package io.envapi.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.ByteArrayOutputStream;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** Quotas under many requests at once, and on every way to write. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class QuotasHttpTest {

  private static final int AT_ONCE = 50;

  @TempDir static Path temp;
  private RunningApi api;

  @BeforeAll
  void start() throws Exception {
    api =
        RunningApi.start(
            temp,
            Map.of("ENVAPI_OPERATOR_ACCOUNTS", "op", "ENVAPI_REAPER_INTERVAL_SECONDS", "0.5"));
  }

  @AfterAll
  void stop() throws Exception {
    api.close();
  }

  private void override(String account, String quotas) throws Exception {
    var set =
        api.call("op", "PUT", "/v1/admin/quotas/" + account, "{\"overrides\":" + quotas + "}");
    assertThat(set.statusCode()).as(set.body()).isEqualTo(200);
  }

  private String environment(String account) throws Exception {
    return "/v1/environments/"
        + RunningApi.json(api.call(account, "POST", "/v1/environments", "{\"name\":\"n\"}"))
            .path("id")
            .asText();
  }

  private static List<HttpResponse<String>> allAtOnce(
      int times, Callable<HttpResponse<String>> request) throws Exception {
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<HttpResponse<String>>> sent = new ArrayList<>();
      for (int i = 0; i < times; i++) {
        sent.add(threads.submit(request));
      }
      List<HttpResponse<String>> answers = new ArrayList<>();
      for (Future<HttpResponse<String>> each : sent) {
        answers.add(each.get());
      }
      return answers;
    }
  }

  private static void assertRefused(HttpResponse<String> response, String limit, long maximum)
      throws Exception {
    assertThat(response.statusCode()).as(response.body()).isEqualTo(409);
    JsonNode problem = RunningApi.json(response);
    assertThat(problem.path("code").asText()).isEqualTo("quota_exceeded");
    assertThat(problem.path("limit").asText()).isEqualTo(limit);
    assertThat(problem.path("maximum").asLong()).isEqualTo(maximum);
    // Of the disk it is what is there already, which alone may be within the quota.
    assertThat(problem.path("current").asLong())
        .isGreaterThanOrEqualTo(limit.equals("max_disk_bytes") ? 1 : maximum);
  }

  @Test
  void parallelCreatesNeverExceedTheCap() throws Exception {
    override("many", "{\"max_environments_per_account\":7,\"max_environments_per_profile\":100}");

    List<HttpResponse<String>> answers =
        allAtOnce(AT_ONCE, () -> api.call("many", "POST", "/v1/environments", "{\"name\":\"n\"}"));

    assertThat(answers).filteredOn(answer -> answer.statusCode() == 201).hasSize(7);
    for (var refused : answers.stream().filter(a -> a.statusCode() != 201).toList()) {
      assertRefused(refused, "max_environments_per_account", 7);
    }
    assertThat(
            RunningApi.json(api.call("many", "GET", "/v1/environments", "")).path("environments"))
        .hasSize(7);
  }

  @Test
  void theCapOfAProfileIsNamedFirst() throws Exception {
    override("profiled", "{\"max_environments_per_profile\":2}");

    List<HttpResponse<String>> answers =
        allAtOnce(12, () -> api.call("profiled", "POST", "/v1/environments", "{\"name\":\"n\"}"));

    assertThat(answers).filteredOn(answer -> answer.statusCode() == 201).hasSize(2);
    for (var refused : answers.stream().filter(a -> a.statusCode() != 201).toList()) {
      assertRefused(refused, "max_environments_per_profile", 2);
    }
  }

  @Test
  void parallelResetsOfArchivedOnesNeverExceedTheCap() throws Exception {
    List<String> archived = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      String environment = environment("revived");
      String archive = environment.replace("/v1/", "/v1/admin/") + "/archive";
      assertThat(api.call("op", "POST", archive, "").statusCode()).isEqualTo(200);
      archived.add(environment);
    }
    override("revived", "{\"max_environments_per_profile\":2}");

    var turn = new AtomicInteger();
    List<HttpResponse<String>> answers =
        allAtOnce(
            4,
            () -> api.call("revived", "POST", archived.get(turn.getAndIncrement()) + "/reset", ""));

    assertThat(answers).filteredOn(answer -> answer.statusCode() == 200).hasSize(2);
    for (var refused : answers.stream().filter(a -> a.statusCode() != 200).toList()) {
      assertRefused(refused, "max_environments_per_profile", 2);
    }
  }

  @Test
  void parallelShellsNeverExceedTheCap() throws Exception {
    override("shells", "{\"max_shells_per_environment\":3}");
    String environment = environment("shells");

    List<HttpResponse<String>> answers =
        allAtOnce(20, () -> api.call("shells", "POST", environment + "/shells", "{}"));

    assertThat(answers).filteredOn(answer -> answer.statusCode() == 201).hasSize(3);
    for (var refused : answers.stream().filter(a -> a.statusCode() != 201).toList()) {
      assertRefused(refused, "max_shells_per_environment", 3);
    }
  }

  @Test
  void everyWayToWriteIsWeighedAndLeavesNothing() throws Exception {
    override("disk", "{\"max_disk_bytes\":1000}");
    String files = environment("disk") + "/files";
    Path workspace = api.workspace(files.replace("/files", ""));
    String kept = "k".repeat(600);
    assertThat(
            api.call(
                    "disk",
                    "PUT",
                    files + "/content",
                    "{\"path\":\"kept\",\"content\":\"" + kept + "\"}")
                .statusCode())
        .isEqualTo(200);
    String more = "m".repeat(600);
    var refusals = new ArrayList<HttpResponse<String>>();
    refusals.add(
        api.call(
            "disk", "PUT", files + "/content", "{\"path\":\"d/a\",\"content\":\"" + more + "\"}"));
    refusals.add(
        api.call(
            "disk",
            "PUT",
            files + "/content",
            "{\"path\":\"kept\",\"mode\":\"append\",\"content\":\"" + more + "\"}"));
    refusals.add(
        api.call(
            "disk",
            "POST",
            files + "/edit",
            "{\"path\":\"kept\",\"old_string\":\""
                + kept
                + "\",\"new_string\":\""
                + more
                + more
                + "\"}"));
    refusals.add(
        api.call(
            "disk",
            "POST",
            files + "/patch",
            "{\"path\":\"kept\",\"patch\":\"@@ -1 +1,2 @@\\n "
                + kept
                + "\\n\\\\ No newline at end of file\\n+"
                + more
                + "\\n\"}"));
    refusals.add(
        api.call("disk", "POST", files + "/copy", "{\"source\":\"kept\",\"destination\":\"d/b\"}"));
    refusals.add(api.call("disk", "PUT", files + "/raw?path=d/c", more));
    refusals.add(
        api.call(
            "disk",
            "POST",
            files + "/transaction",
            "{\"operations\":[{\"op\":\"write\",\"path\":\"d/e\",\"content\":\"" + more + "\"}]}"));
    refusals.add(
        api.send(
            api.request(files + "/archive?path=d&format=zip")
                .setHeader("Authorization", "Bearer " + api.tokenOf("disk"))
                .PUT(HttpRequest.BodyPublishers.ofByteArray(zip(more)))));

    for (HttpResponse<String> refused : refusals) {
      if (refused.statusCode() == 422) {
        // The patch: its form is judged before its weight.
        assertThat(refused).isSameAs(refusals.get(3));
        continue;
      }
      assertRefused(refused, "max_disk_bytes", 1000);
    }
    try (Stream<Path> tree = Files.walk(workspace)) {
      assertThat(tree.filter(p -> !p.equals(workspace)).map(p -> p.getFileName().toString()))
          .containsExactly("kept");
    }
    assertThat(Files.readString(workspace.resolve("kept"))).isEqualTo(kept);
  }

  private static byte[] zip(String content) throws Exception {
    var bytes = new ByteArrayOutputStream();
    try (var zip = new ZipOutputStream(bytes)) {
      zip.putNextEntry(new ZipEntry("z"));
      zip.write(content.getBytes(java.nio.charset.StandardCharsets.US_ASCII));
    }
    return bytes.toByteArray();
  }

  @Test
  void whatAShellWroteIsMeasuredAndRefusesTheNextCommand() throws Exception {
    override("writer", "{\"max_disk_bytes\":100000}");
    String environment = environment("writer");
    String shell =
        RunningApi.json(api.call("writer", "POST", environment + "/shells", "{}"))
            .path("id")
            .asText();
    String exec = "/v1/shells/" + shell + "/exec";
    String command = "{\"command\":\"head -c 300000 /dev/zero >f\",\"wait_ms\":20000}";
    assertThat(api.call("writer", "POST", exec, command).statusCode()).isEqualTo(200);

    await()
        .atMost(Duration.ofSeconds(60))
        .untilAsserted(
            () ->
                assertRefused(
                    api.call("writer", "POST", exec, "{\"command\":\"true\"}"),
                    "max_disk_bytes",
                    100_000));
    assertRefused(
        api.call("writer", "POST", environment + "/shells", "{}"), "max_disk_bytes", 100_000);

    assertThat(api.call("writer", "DELETE", environment + "/files/content?path=f", "").statusCode())
        .isEqualTo(200);
    await()
        .atMost(Duration.ofSeconds(60))
        .until(
            () -> api.call("writer", "POST", exec, "{\"command\":\"true\"}").statusCode() == 200);
  }
}
