package io.envapi.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.envapi.app.RunningApi;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A token that ends while it is used: who only watches is cut off, with a word; what a request
 * began goes on, and is answered; nothing new is begun.
 */
class TokenEndTest {

  private static final Duration SOON = Duration.ofSeconds(3);
  private static final String ENDED = "\"detail\":\"the token has expired\"";

  @TempDir static Path root;

  private static RunningApi api;
  private static String environment;
  private static String shell;

  @BeforeAll
  static void start() throws Exception {
    api = RunningApi.start(root, Map.of());
    environment = api.environment();
    shell =
        "/v1/shells/"
            + RunningApi.json(api.call("alice", "POST", environment + "/shells", "{}"))
                .get("id")
                .asText();
  }

  @AfterAll
  static void stop() throws Exception {
    api.close();
  }

  /** Every kind of stream that is asked for by GET. */
  @Test
  void streamsOfWhoOnlyWatchesEndWithTheToken() throws Exception {
    String token = api.tokenOf("alice", SOON);
    String lasting = api.tokenOf("alice");
    var ending =
        Map.of(
            shell + "/output/stream", watch(shell + "/output/stream", token),
            environment + "/events", watch(environment + "/events", token),
            environment + "/files/watch", watch(environment + "/files/watch", token));
    CompletableFuture<HttpResponse<String>> staying = watch(shell + "/output/stream", lasting);

    for (var each : ending.entrySet()) {
      HttpResponse<String> ended = each.getValue().get(60, TimeUnit.SECONDS);
      assertThat(ended.statusCode()).as(each.getKey()).isEqualTo(200);
      String last = ended.body().substring(ended.body().lastIndexOf("event: "));
      assertThat(last)
          .as(each.getKey())
          .startsWith("event: error\n")
          .contains("\"code\":\"unauthorized\"", ENDED);
    }
    assertThat(staying).as("with a token that has not ended").isNotDone();
    staying.cancel(true);
    assertThat(api.send(api.request(shell, token)).statusCode()).isEqualTo(401);
  }

  @Test
  void whatWasBegunIsAnsweredAndGoesOn() throws Exception {
    String token = api.tokenOf("alice", SOON);
    // Until the test says so, which is after the token's end.
    String command = "until [ -e %s ]; do sleep 0.1; done; echo done";
    CompletableFuture<HttpResponse<String>> plain =
        exec("/v1/exec", token, command.formatted("go"), "application/json");
    CompletableFuture<HttpResponse<String>> streamed =
        exec(shell + "/exec", token, command.formatted("go"), "text/event-stream");
    await()
        .atMost(Duration.ofSeconds(60))
        .until(() -> api.send(api.request(shell, token)).statusCode() == 401);
    assertThat(plain).isNotDone();
    assertThat(streamed).isNotDone();

    api.call("alice", "PUT", environment + "/files/content", "{\"path\":\"go\",\"content\":\"\"}");

    assertThat(RunningApi.json(plain.get(60, TimeUnit.SECONDS)).get("output").asText())
        .isEqualTo("done\n");
    assertThat(streamed.get(60, TimeUnit.SECONDS).body())
        .contains("event: result")
        .doesNotContain(ENDED);
  }

  private static CompletableFuture<HttpResponse<String>> watch(String path, String token) {
    return client()
        .sendAsync(
            api.request(path, token).header("Accept", "text/event-stream").build(),
            HttpResponse.BodyHandlers.ofString());
  }

  private static CompletableFuture<HttpResponse<String>> exec(
      String path, String token, String command, String accept) {
    String target =
        path.equals("/v1/exec")
            ? "\"environment_id\":\"%s\","
                .formatted(environment.substring(environment.lastIndexOf('/') + 1))
            : "";
    String body = "{%s\"command\":\"%s\",\"wait_ms\":60000}".formatted(target, command);
    return client()
        .sendAsync(
            api.request(path, token)
                .header("Accept", accept)
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build(),
            HttpResponse.BodyHandlers.ofString());
  }

  private static HttpClient client() {
    return api.client;
  }
}
