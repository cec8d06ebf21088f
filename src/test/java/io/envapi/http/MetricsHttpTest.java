package io.envapi.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.envapi.app.RunningApi;
import java.io.InputStream;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a scraper sees of a service that has done something. */
class MetricsHttpTest {

  private static final String TOKEN = "a-token-for-the-metrics-of-32-characters";
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  /** {@code name{labels} value}. */
  private static final Pattern SAMPLE =
      Pattern.compile("([a-z_0-9]+)(\\{(.*)})? (-?[0-9.E+-]+|NaN|[+-]Inf)");

  private static final Pattern LABEL = Pattern.compile("([a-z_]+)=\"");

  @TempDir static Path root;

  private static RunningApi api;
  private static String environment;
  private static String shell;

  @BeforeAll
  static void start() throws Exception {
    api = RunningApi.start(root, Map.of("ENVAPI_METRICS_TOKEN", TOKEN));
    environment = api.environment();
    shell = "/v1/shells/" + RunningApi.json(post(environment + "/shells", "{}")).get("id").asText();
    post(shell + "/exec", "{\"command\":\"echo 1234567\",\"wait_ms\":20000}");
  }

  @AfterAll
  static void stop() throws Exception {
    api.close();
  }

  @Test
  void theTokenIsNeeded() throws Exception {
    assertThat(api.send(api.anonymous("/metrics")).statusCode()).isEqualTo(401);
    assertThat(api.send(api.request("/metrics")).statusCode()).isEqualTo(401);
    assertThat(api.send(api.request("/metrics", TOKEN + "x")).statusCode()).isEqualTo(401);
    HttpResponse<String> response = api.send(api.request("/metrics", TOKEN));
    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(response.headers().firstValue("Content-Type").orElseThrow().replace(" ", ""))
        .isEqualToIgnoringCase("text/plain;version=0.0.4;charset=utf-8");
  }

  @Test
  void everyLineIsOneThatPrometheusReads() throws Exception {
    assertThat(text().lines())
        .allMatch(line -> line.startsWith("# ") || SAMPLE.matcher(line).matches());
  }

  @Test
  void whatHappenedIsCounted() throws Exception {
    assertThat(value("envapi_shells", "")).isEqualTo(1);
    assertThat(value("envapi_environments_live", "")).isEqualTo(1);
    assertThat(value("envapi_commands_total", "reason=\"exited\"")).isEqualTo(1);
    assertThat(value("envapi_command_output_bytes_total", "")).isEqualTo(8);
    assertThat(sum("envapi_shell_starts_seconds_count")).isEqualTo(1);
    assertThat(value("envapi_journal_write_seconds_count", "")).isPositive();
    assertThat(value("envapi_journal_failures_total", "")).isZero();
    assertThat(value("envapi_ask_timeouts_total", "")).isZero();
    assertThat(sum("jvm_memory_used_bytes")).isPositive();
    assertThat(sum("jvm_gc_pause_seconds_count")).isNotNegative();
    assertThat(value("jvm_threads_live_threads", "")).isPositive();
    assertThat(
            value(
                "envapi_http_requests_seconds_count",
                "method=\"POST\",route=\"/v1/shells/{shell}/exec\",status=\"200\""))
        .isEqualTo(1);
  }

  @Test
  void aStreamCountsWhileItIsRead() throws Exception {
    HttpResponse<InputStream> stream =
        api.client.send(
            api.request(shell + "/output/stream").build(),
            HttpResponse.BodyHandlers.ofInputStream());
    await().atMost(PATIENCE).until(() -> value("envapi_http_streams", "") == 1);
    stream.body().close();
    // That a client has gone shows when the second heartbeat cannot be sent.
    await().atMost(Duration.ofSeconds(60)).until(() -> value("envapi_http_streams", "") == 0);
  }

  @Test
  void labelsHaveFewValues() throws Exception {
    for (int i = 0; i < 50; i++) {
      api.send(api.anonymous("/nowhere/" + i));
      api.send(api.request("/v1/environments/env_%012x".formatted(i)));
      api.send(api.anonymous("/health").method("X" + i, HttpRequest.BodyPublishers.noBody()));
    }
    String text = text();

    String id = environment.substring(environment.lastIndexOf('/') + 1);
    assertThat(text).doesNotContain(id).doesNotContain("alice").doesNotContain("/nowhere");
    assertThat(value("envapi_http_requests_seconds_count", unknown(404))).isEqualTo(50);
    assertThat(text).contains("route=\"/v1/environments/{environment}\",status=\"404\"");
    assertThat(text.lines().filter(line -> line.startsWith("envapi_")).count()).isLessThan(600);
    assertThat(labels(text))
        .allMatch(Set.of("route", "method", "status", "le", "reason", "tier")::contains);
  }

  @Test
  void everyMetricIsInTheDocumentAndInverselyEveryOneThere() throws Exception {
    String document = Files.readString(Path.of("docs/metrics.md"));
    Set<String> documented =
        Pattern.compile("`(envapi_[a-z_]+)`")
            .matcher(document)
            .results()
            .map(found -> found.group(1))
            .collect(Collectors.toCollection(TreeSet::new));
    Set<String> served =
        text()
            .lines()
            .filter(line -> line.startsWith("# TYPE envapi_"))
            .map(line -> line.split(" ")[2])
            .filter(name -> !name.endsWith("_max"))
            .collect(Collectors.toCollection(TreeSet::new));
    assertThat(documented).isEqualTo(served);
  }

  private static String unknown(int status) {
    return "method=\"GET\",route=\"unknown\",status=\"%d\"".formatted(status);
  }

  private static Set<String> labels(String text) {
    return text.lines()
        .filter(line -> line.startsWith("envapi_"))
        .flatMap(line -> LABEL.matcher(line).results().map(found -> found.group(1)))
        .collect(Collectors.toSet());
  }

  private static double value(String name, String labels) throws Exception {
    String start = labels.isEmpty() ? name + " " : name + "{" + labels + "} ";
    List<String> found = text().lines().filter(line -> line.startsWith(start)).toList();
    assertThat(found).as(start).hasSize(1);
    return Double.parseDouble(found.getFirst().substring(start.length()));
  }

  private static double sum(String name) throws Exception {
    return text()
        .lines()
        .filter(line -> line.startsWith(name + "{") || line.startsWith(name + " "))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .sum();
  }

  private static String text() throws Exception {
    return api.send(api.request("/metrics", TOKEN)).body();
  }

  private static HttpResponse<String> post(String target, String body) throws Exception {
    HttpResponse<String> response =
        api.send(api.request(target).POST(HttpRequest.BodyPublishers.ofString(body)));
    assertThat(response.statusCode()).as(response.body()).isBetween(200, 201);
    return response;
  }
}
