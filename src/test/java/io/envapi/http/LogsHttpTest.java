package io.envapi.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import com.fasterxml.jackson.databind.JsonNode;
import io.envapi.app.RunningApi;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** What the log says of requests, and who may change how much it says. */
class LogsHttpTest {

  private static final class Kept extends AppenderBase<ILoggingEvent> {
    private final List<ILoggingEvent> events = new CopyOnWriteArrayList<>();

    @Override
    protected void append(ILoggingEvent event) {
      event.prepareForDeferredProcessing();
      events.add(event);
    }
  }

  private static final LoggerContext LOGGERS = (LoggerContext) LoggerFactory.getILoggerFactory();
  private static final Logger FRONT = LOGGERS.getLogger(Front.class);
  private static final Kept KEPT = new Kept();

  @TempDir static Path root;

  private static RunningApi api;
  private static String operator;

  @BeforeAll
  static void start() throws Exception {
    api = RunningApi.start(root, Map.of("ENVAPI_OPERATOR_ACCOUNTS", "operator"));
    operator = api.token("operator");
    KEPT.setContext(LOGGERS);
    KEPT.start();
    FRONT.setLevel(Level.INFO);
    FRONT.addAppender(KEPT);
  }

  @AfterAll
  static void stop() throws Exception {
    FRONT.detachAppender(KEPT);
    FRONT.setLevel(null);
    api.close();
  }

  @Test
  void aRequestIsLoggedWithWhoseAndWhatItIs() throws Exception {
    String environment = api.environment();
    String trace = "0af7651916cd43dd8448eb211c80319c";
    HttpResponse<String> response =
        api.send(
            api.request(environment + "/files/content?path=hidden-in-query")
                .header("traceparent", "00-" + trace + "-b7ad6b7169203331-01"));
    ILoggingEvent line = lineOf(response);

    assertThat(line.getMDCPropertyMap())
        .containsEntry("account", "alice")
        .containsEntry("environment", environment.substring(environment.lastIndexOf('/') + 1))
        .containsEntry("trace_id", trace)
        .containsEntry("parent_span_id", "b7ad6b7169203331");
    assertThat(line.getMDCPropertyMap().get("span_id")).matches("[0-9a-f]{16}");
    assertThat(line.getFormattedMessage())
        .startsWith("GET " + environment + "/files/content 404 ")
        .doesNotContain("hidden-in-query")
        .doesNotContain(api.token);
  }

  @Test
  void theEnvironmentOfABodyIsLoggedToo() throws Exception {
    String environment = api.environment();
    String id = environment.substring(environment.lastIndexOf('/') + 1);
    HttpResponse<String> response =
        api.send(
            api.request("/v1/exec")
                .header("traceparent", "00-not-a-trace")
                .POST(
                    HttpRequest.BodyPublishers.ofString(
                        "{\"environment_id\":\"%s\",\"command\":\"true\"}".formatted(id))));

    assertThat(lineOf(response).getMDCPropertyMap())
        .containsEntry("environment", id)
        .doesNotContainKeys("trace_id", "span_id");
  }

  @Test
  void whatNobodyHasIsNotLoggedAsAnEnvironment() throws Exception {
    HttpResponse<String> response = api.send(api.anonymous("/v1/environments/x%0Ay"));

    assertThat(lineOf(response).getMDCPropertyMap()).doesNotContainKeys("account", "environment");
  }

  @Test
  void operatorsChangeTheLevelAndItIsRecorded() throws Exception {
    HttpResponse<String> set =
        level("{\"level\":\"DEBUG\",\"logger\":\"io.envapi.http.Front\"}", operator);
    try {
      assertThat(set.statusCode()).as(set.body()).isEqualTo(200);
      assertThat(FRONT.isDebugEnabled()).isTrue();
      assertThat(levels().get("io.envapi.http.Front").asText()).isEqualTo("DEBUG");
      assertThat(levels().has("ROOT")).isTrue();
      // At INFO this one is not logged.
      assertThat(lineOf(api.send(api.anonymous("/health"))).getLevel()).isEqualTo(Level.DEBUG);
      assertThat(api.send(api.request("/v1/admin/audit", operator)).body())
          .contains("\"action\":\"log_level.set\"");
    } finally {
      FRONT.setLevel(Level.INFO);
    }
  }

  @Test
  void nobodyElseDoesAndNothingElseIsALevel() throws Exception {
    assertThat(level("{\"level\":\"DEBUG\"}", api.token).statusCode()).isEqualTo(403);
    assertThat(api.send(api.request("/v1/admin/log-level")).statusCode()).isEqualTo(403);
    for (String body :
        List.of(
            "{}",
            "{\"level\":\"LOUD\"}",
            "{\"level\":\"OFF\"}",
            "{\"level\":\"DEBUG\",\"logger\":\"com.zaxxer.hikari\"}",
            "{\"level\":\"DEBUG\",\"logger\":\"io.envapi..x\"}")) {
      assertThat(level(body, operator).statusCode()).as(body).isEqualTo(422);
    }
    assertThat(LOGGERS.getLogger("io.envapi").getLevel()).isNull();
  }

  private static JsonNode levels() throws Exception {
    return RunningApi.json(api.send(api.request("/v1/admin/log-level", operator))).get("levels");
  }

  private static HttpResponse<String> level(String body, String token) throws Exception {
    return api.send(
        api.request("/v1/admin/log-level", token).PUT(HttpRequest.BodyPublishers.ofString(body)));
  }

  /** Written as the answer leaves. */
  private static ILoggingEvent lineOf(HttpResponse<String> response) {
    String id = response.headers().firstValue("X-Request-Id").orElseThrow();
    return await()
        .atMost(Duration.ofSeconds(10))
        .until(
            () ->
                KEPT.events.stream()
                    .filter(event -> id.equals(event.getMDCPropertyMap().get("request_id")))
                    .findFirst(),
            java.util.Optional::isPresent)
        .orElseThrow();
  }
}
