package io.envapi.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.envapi.app.RunningApi;
import java.io.InputStream;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** More than may be asked for at once: refused, so that everybody else is served. */
class LimitsHttpTest {

  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int REQUESTS_PER_SECOND = 40;

  @TempDir static Path root;

  private static RunningApi api;
  private static String bob;

  @BeforeAll
  static void start() throws Exception {
    api =
        RunningApi.start(
            root,
            Map.of(
                "ENVAPI_MAX_REQUESTS_PER_SECOND", Integer.toString(REQUESTS_PER_SECOND),
                "ENVAPI_MAX_CONCURRENT_REQUESTS", "3",
                "ENVAPI_MAX_STREAMS_PER_ACCOUNT", "2",
                "ENVAPI_MAX_REFUSED_PER_SECOND", "20",
                "ENVAPI_MAX_LIVE_SHELLS", "2"));
    bob = api.token("bob");
  }

  @AfterAll
  static void stop() throws Exception {
    api.close();
  }

  @Test
  void anAccountMakesOnlySoManyRequestsASecond() throws Exception {
    String flood = api.token("flood");
    HttpResponse<String> refused =
        until(api.request("/v1/environments", flood), answer -> answer.statusCode() == 429, 2000);

    assertTooMany(refused, "max_requests_per_second", REQUESTS_PER_SECOND);
    assertOthersAreServed();
    await()
        .atMost(PATIENCE)
        .until(() -> api.send(api.request("/v1/environments", flood)).statusCode() == 200);
  }

  @Test
  void anAccountWaitsForOnlySoMuch() throws Exception {
    String shell = shell(api.environment(), api.token);
    assertThat(post(shell + "/exec", "{\"command\":\"sleep 600\"}", api.token).statusCode())
        .isEqualTo(200);
    List<CompletableFuture<HttpResponse<String>>> waits = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      waits.add(
          api.client.sendAsync(
              body(api.request(shell + "/wait"), "{\"timeout_ms\":8000}").build(),
              HttpResponse.BodyHandlers.ofString()));
    }
    HttpResponse<String> refused =
        await()
            .atMost(PATIENCE)
            .until(() -> api.send(api.request(shell)), answer -> answer.statusCode() == 429);

    assertTooMany(refused, "max_concurrent_requests", 3);
    assertOthersAreServed();
    waits.forEach(wait -> assertThat(wait.join().statusCode()).isEqualTo(200));
    assertThat(closes(shell, api.token)).isTrue();
  }

  @Test
  void anAccountReadsOnlySoManyStreams() throws Exception {
    String account = api.token("reader");
    String shell = shell(environment(account), account);
    List<InputStream> streams = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      HttpResponse<InputStream> stream =
          api.client.send(
              api.request(shell + "/output/stream", account).build(),
              HttpResponse.BodyHandlers.ofInputStream());
      assertThat(stream.statusCode()).isEqualTo(200);
      streams.add(stream.body());
    }

    assertTooMany(
        api.send(api.request(shell + "/output/stream", account)), "max_streams_per_account", 2);
    HttpResponse<String> exec =
        api.send(
            body(api.request(shell + "/exec", account), "{\"command\":\"touch ran\"}")
                .header("Accept", "text/event-stream"));
    assertTooMany(exec, "max_streams_per_account", 2);
    assertThat(api.send(api.request(shell, account)).statusCode()).isEqualTo(200);
    assertThat(RunningApi.json(api.send(api.request(shell, account))).get("commands_run").asInt())
        .isZero();

    streams.getFirst().close();
    await()
        .atMost(PATIENCE)
        .until(
            () -> {
              HttpResponse<InputStream> next =
                  api.client.send(
                      api.request(shell + "/output/stream", account).build(),
                      HttpResponse.BodyHandlers.ofInputStream());
              next.body().close();
              return next.statusCode() == 200;
            });
    streams.getLast().close();
    assertThat(closes(shell, account)).isTrue();
  }

  @Test
  void aHostHasOnlySoManyShells() throws Exception {
    String account = api.token("opener");
    String environment = environment(account);
    List<String> shells = List.of(shell(environment, account), shell(environment, account));

    HttpResponse<String> refused = post(environment + "/shells", "{}", account);
    assertThat(refused.statusCode()).as(refused.body()).isEqualTo(503);
    assertThat(RunningApi.json(refused).get("code").asText()).isEqualTo("no_capacity");
    assertThat(refused.headers().firstValue("Retry-After")).isPresent();

    assertThat(closes(shells.getFirst(), account)).isTrue();
    String third = shell(environment, account);
    assertThat(closes(third, account)).isTrue();
    assertThat(closes(shells.getLast(), account)).isTrue();
  }

  @Test
  void whoWasRefusedTooOftenIsNotLookedAt() throws Exception {
    assertThat(api.send(api.request("/v1/environments", bob)).statusCode()).isEqualTo(200);
    String forged = bob.substring(0, bob.length() - 8) + "AAAAAAAA";
    HttpResponse<String> refused =
        until(api.request("/v1/environments", forged), answer -> answer.statusCode() == 429, 2000);

    assertThat(RunningApi.json(refused).get("code").asText()).isEqualTo("too_many_requests");
    assertThat(refused.headers().firstValue("Retry-After")).contains("1");
    assertOthersAreServed();
    await()
        .atMost(PATIENCE)
        .until(() -> api.send(api.request("/v1/environments", forged)).statusCode() == 401);
  }

  private static void assertTooMany(HttpResponse<String> response, String limit, int maximum)
      throws Exception {
    assertThat(response.statusCode()).as(response.body()).isEqualTo(429);
    assertThat(response.headers().firstValue("Retry-After")).contains("1");
    assertThat(RunningApi.json(response).get("code").asText()).isEqualTo("too_many_requests");
    assertThat(RunningApi.json(response).get("limit").asText()).isEqualTo(limit);
    assertThat(RunningApi.json(response).get("maximum").asInt()).isEqualTo(maximum);
  }

  private static void assertOthersAreServed() throws Exception {
    assertThat(api.send(api.anonymous("/health")).statusCode()).isEqualTo(200);
    assertThat(api.send(api.request("/v1/environments", bob)).statusCode()).isEqualTo(200);
  }

  private static HttpResponse<String> until(
      HttpRequest.Builder request, Predicate<HttpResponse<String>> wanted, int most)
      throws Exception {
    HttpResponse<String> last = api.send(request);
    for (int i = 0; i < most && !wanted.test(last); i++) {
      last = api.send(request);
    }
    return last;
  }

  private static String environment(String account) throws Exception {
    HttpResponse<String> made = post("/v1/environments", "{\"name\":\"n\"}", account);
    assertThat(made.statusCode()).as(made.body()).isEqualTo(201);
    return "/v1/environments/" + RunningApi.json(made).get("id").asText();
  }

  private static String shell(String environment, String account) throws Exception {
    HttpResponse<String> opened = post(environment + "/shells", "{}", account);
    assertThat(opened.statusCode()).as(opened.body()).isEqualTo(201);
    return "/v1/shells/" + RunningApi.json(opened).get("id").asText();
  }

  private static boolean closes(String shell, String account) throws Exception {
    return api.send(api.request(shell, account).DELETE()).statusCode() == 200;
  }

  private static HttpResponse<String> post(String target, String body, String account)
      throws Exception {
    return api.send(body(api.request(target, account), body));
  }

  private static HttpRequest.Builder body(HttpRequest.Builder request, String body) {
    return request.POST(HttpRequest.BodyPublishers.ofString(body));
  }
}
