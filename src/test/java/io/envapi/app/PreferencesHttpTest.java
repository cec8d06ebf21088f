package io.envapi.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** What a person prefers, through the whole service and a settings service on a real socket. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PreferencesHttpTest {

  @TempDir static Path temp;

  private final AtomicReference<String> settings = new AtomicReference<>("{}");
  private final AtomicInteger status = new AtomicInteger(200);
  private final AtomicInteger accounts = new AtomicInteger();
  private HttpServer server;
  private RunningApi api;

  @BeforeAll
  void start() throws Exception {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          byte[] body = ("{\"settings\":" + settings.get() + "}").getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(status.get(), body.length);
          try (exchange) {
            exchange.getResponseBody().write(body);
          }
        });
    server.start();
    api =
        RunningApi.start(
            temp,
            Map.of(
                "ENVAPI_SETTINGS_API_BASE_URL",
                "http://127.0.0.1:" + server.getAddress().getPort(),
                "ENVAPI_SETTINGS_API_TOKEN",
                "a-settings-token-of-enough-characters"));
  }

  @AfterAll
  void stop() throws Exception {
    api.close();
    server.stop(0);
  }

  /** Every test has people of its own: what was answered for one is kept a while. */
  private String person(String chosen) {
    settings.set(chosen);
    status.set(200);
    return "person-" + accounts.incrementAndGet();
  }

  private HttpResponse<String> create(String account, String... headers) throws Exception {
    return api.call(account, "POST", "/v1/environments", "{\"name\":\"n\"}", headers);
  }

  private static JsonNode created(HttpResponse<String> response) throws Exception {
    assertThat(response.statusCode()).as(response.body()).isEqualTo(201);
    return RunningApi.json(response);
  }

  @Test
  void anEnvironmentIsMadeInThePersonsProfileAndStampedWithTheirTimes() throws Exception {
    String alice =
        person(
            "{\"default_profile\":\"family\",\"idle_environment_hours\":2,"
                + "\"shell_idle_ttl_seconds\":300.5}");

    JsonNode environment = created(create(alice));

    assertThat(environment.path("profile").asText()).isEqualTo("family");
    assertThat(environment.path("environment_idle_ttl_seconds").asDouble()).isEqualTo(7200);
    assertThat(environment.path("shell_idle_ttl_seconds").asDouble()).isEqualTo(300.5);
    JsonNode named = created(create(alice, "X-Keyring-Profile", "work"));
    assertThat(named.path("profile").asText()).isEqualTo("work");
  }

  @Test
  void theDeploymentsValuesAreTheCeiling() throws Exception {
    String alice = person("{\"idle_environment_hours\":100,\"idle_shell_minutes\":1440}");

    JsonNode environment = created(create(alice));

    assertThat(environment.path("environment_idle_ttl_seconds").asDouble()).isEqualTo(86_400);
    assertThat(environment.path("shell_idle_ttl_seconds").asDouble()).isEqualTo(3600);
  }

  @Test
  void theLowerCapHolds() throws Exception {
    String alice = person("{\"max_environments_per_profile\":1}");
    created(create(alice));

    HttpResponse<String> refused = create(alice);

    assertThat(refused.statusCode()).isEqualTo(409);
    JsonNode problem = RunningApi.json(refused);
    assertThat(problem.path("limit").asText()).isEqualTo("max_environments_per_profile");
    assertThat(problem.path("current").asInt()).isEqualTo(1);
    assertThat(problem.path("maximum").asInt()).isEqualTo(1);
    created(create(alice, "X-Keyring-Profile", "other"));
  }

  @Test
  void anOutageRefusesOnlyWhoNamesNoProfile() throws Exception {
    String alice = person("{}");
    status.set(503);

    HttpResponse<String> refused = create(alice);
    JsonNode environment = created(create(alice, "X-Keyring-Profile", "work"));

    assertThat(refused.statusCode()).isEqualTo(503);
    assertThat(RunningApi.json(refused).path("code").asText()).isEqualTo("preferences_unavailable");
    assertThat(refused.headers().firstValue("Retry-After")).isPresent();
    assertThat(environment.path("environment_idle_ttl_seconds").asDouble()).isEqualTo(86_400);
    assertThat(api.call(alice, "GET", "/v1/environments", "").statusCode())
        .as("what needs no profile")
        .isEqualTo(200);
  }

  @Test
  void aRefusalRefusesEverybody() throws Exception {
    String alice = person("{\"secret\":\"grants\"}");
    status.set(403);

    for (String[] headers : new String[][] {{}, {"X-Keyring-Profile", "work"}}) {
      HttpResponse<String> refused = create(alice, headers);
      assertThat(refused.statusCode()).isEqualTo(503);
      assertThat(refused.body()).contains("preferences_unavailable").doesNotContain("grants");
    }
  }

  @Test
  void anotherBashIsStartedWhereItIsInstalledAndNothingElse() throws Exception {
    assumeTrue(Files.isExecutable(Path.of("/usr/bin/bash")), "no /usr/bin/bash");
    for (String shell : new String[] {"/usr/bin/bash", "/usr/bin/python3", "sh", "/tmp/bash"}) {
      String alice = person("{\"default_shell\":\"" + shell + "\"}");
      String id = created(create(alice)).path("id").asText();

      HttpResponse<String> ran =
          api.call(
              alice,
              "POST",
              "/v1/exec",
              "{\"environment_id\":\""
                  + id
                  + "\",\"command\":\"tr '\\\\0' ' ' </proc/$$/cmdline\"}");

      assertThat(RunningApi.json(ran).path("output").asText())
          .as("%s: %s", shell, ran.body())
          .startsWith(shell.equals("/usr/bin/bash") ? "/usr/bin/bash " : "/bin/bash ");
    }
  }
}
