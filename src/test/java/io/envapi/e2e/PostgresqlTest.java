package io.envapi.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The service with its journal in a real PostgreSQL. */
class PostgresqlTest {

  @TempDir static Path directory;
  private static Postgres postgres;
  private static RunningService service;

  @BeforeAll
  static void start() throws Exception {
    postgres = Postgres.start(directory);
    service =
        RunningService.start(
            Files.createDirectory(directory.resolve("service")),
            Map.of(
                "ENVAPI_JOURNAL_URL", postgres.url(),
                "ENVAPI_JOURNAL_USER", postgres.user(),
                "ENVAPI_JOURNAL_PASSWORD", postgres.password(),
                "ENVAPI_ASK_TIMEOUT_SECONDS", "5"));
  }

  @AfterAll
  static void stop() throws Exception {
    if (service != null) {
      service.close();
    }
    if (postgres != null) {
      postgres.close();
    }
  }

  @Test
  void historyIsThereAfterASigkillAndRowsGoWithTheirEnvironment() throws Exception {
    service.ensureRunning();
    Client client = service.as("alice|sub of more than 255 characters " + "x".repeat(300));
    String environment = client.environment("kept");
    String shell = client.shell(environment);
    JsonNode ran = client.exec(shell, "echo hello", 20_000).expect(200);
    assertThat(ran.path("output").asText()).isEqualTo("hello\n");
    JsonNode once =
        client
            .with("Idempotency-Key", "k")
            .post("/v1/environments", Map.of("name", "x"))
            .expect(201);

    service.kill();
    service.restart();

    JsonNode record = client.get("/v1/commands/" + ran.path("id").asText()).expect(200);
    assertThat(record.path("state").asText()).isEqualTo("exited");
    assertThat(record.path("output").asText()).isEqualTo("hello\n");
    assertThat(
            client
                .with("Idempotency-Key", "k")
                .post("/v1/environments", Map.of("name", "x"))
                .expect(201))
        .isEqualTo(once);
    assertThat(client.exec(client.shell(environment), "true", 20_000).expect(200).path("exit_code"))
        .isEqualTo(com.fasterxml.jackson.databind.node.IntNode.valueOf(0));

    String hex = environment.substring("env_".length());
    assertThat(rows(hex)).isPositive();
    client.delete("/v1/environments/" + environment).expect(204);
    assertThat(rows(hex)).isZero();
    assertThat(Files.exists(service.root().resolve("journal").resolve("journal.mv.db"))).isFalse();
    assertThat(service.log()).doesNotContain(postgres.password());
  }

  @Test
  void aDatabaseThatIsAwayIsARefusalAndThenForgotten() throws Exception {
    service.ensureRunning();
    Client client = service.as("bob");
    String environment = client.environment("before");
    postgres.end();
    try {
      await()
          .atMost(Duration.ofSeconds(60))
          .untilAsserted(
              () -> {
                Answer refused = client.post("/v1/environments", Map.of("name", "during"));
                refused.refused(503, "journal_unavailable");
                assertThat(refused.header("Retry-After")).isNotEmpty();
              });
    } finally {
      postgres.begin();
    }
    await()
        .atMost(Duration.ofSeconds(90))
        .untilAsserted(() -> client.post("/v1/environments", Map.of("name", "after")).expect(201));
    client.get("/v1/environments/" + environment).expect(200);
    JsonNode all = client.get("/v1/environments").expect(200).path("environments");
    assertThat(all).extracting(e -> e.path("name").asText()).doesNotContain("during");
  }

  @Test
  void ofTwoThatStartAtTheSameTimeOneHasTheDatabase() throws Exception {
    service.ensureRunning();
    String url = postgres.database("contested");
    JavaProcess one = alone(url, "one");
    JavaProcess other = alone(url, "other");
    try {
      await().atMost(Duration.ofSeconds(90)).until(() -> !(one.isAlive() && other.isAlive()));
      JavaProcess refused = one.isAlive() ? other : one;
      JavaProcess taken = one.isAlive() ? one : other;
      assertThat(refused.exit(Duration.ofSeconds(1))).isEqualTo(1);
      assertThat(refused.log()).contains("another host uses this journal");
      assertThat(taken.isAlive()).as("%s", taken.log()).isTrue();
    } finally {
      one.close();
      other.close();
    }
  }

  private static JavaProcess alone(String url, String root) throws IOException {
    return service.another(
        Map.of(
            "ENVAPI_ROOT",
            directory.resolve(root).toString(),
            "ENVAPI_HTTP_PORT",
            "0",
            "ENVAPI_JOURNAL_URL",
            url));
  }

  /** Of an environment and its shells. */
  private static int rows(String hex) throws SQLException {
    try (Connection connection =
            DriverManager.getConnection(postgres.url(), postgres.user(), postgres.password());
        PreparedStatement count =
            connection.prepareStatement(
                "SELECT (SELECT count(*) FROM event_journal WHERE persistence_id LIKE ?)"
                    + " + (SELECT count(*) FROM snapshot WHERE persistence_id LIKE ?)")) {
      count.setString(1, "%" + hex + "%");
      count.setString(2, "%" + hex + "%");
      try (ResultSet result = count.executeQuery()) {
        result.next();
        return result.getInt(1);
      }
    }
  }
}
