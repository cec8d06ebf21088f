package io.envapi.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What the journal holds does not grow with what was done, and goes with what is deleted. */
class JournalGrowthTest {

  private static final Logger LOG = LoggerFactory.getLogger(JournalGrowthTest.class);

  /** Events kept behind the newest snapshot, and as many until the next. */
  private static final int MOST_EVENTS = 401;

  private static final int COMMANDS = 700;
  private static final int MANY = 100_000;

  @TempDir Path directory;

  @Test
  void aShellThatRanManyCommandsIsThereAtOnceAndThenLeavesNothing() throws Exception {
    try (RunningService service = RunningService.start(directory, Map.of())) {
      Client client = service.as("alice");
      String environment = client.environment("busy");
      String shell = client.shell(environment);
      for (int i = 0; i < COMMANDS; i++) {
        client.exec(shell, ":", 20_000).expect(200);
      }
      String hex = environment.substring("env_".length());
      service.kill();
      try (var journal = new JournalFile(service.root())) {
        assertThat(journal.events("Shell|" + shell)).isBetween(1, MOST_EVENTS);
        // The one before the newest goes after it was written: a kill may come first.
        assertThat(journal.snapshots("Shell|" + shell)).isBetween(1, 3);
        // The same rows as after many more commands: what is between was deleted.
        journal.shift("Shell|" + shell, 2 * (MANY - COMMANDS));
      }
      service.restart();

      long before = System.nanoTime();
      JsonNode commands = client.get("/v1/shells/" + shell + "/commands").expect(200);
      Duration took = Duration.ofNanos(System.nanoTime() - before);
      LOG.info("a shell with {} commands behind it answered after {}", MANY, took);
      assertThat(commands.path("commands")).hasSize(200);
      assertThat(took).isLessThan(Duration.ofSeconds(1));

      for (int i = 0; i < 3; i++) {
        client
            .post("/v1/exec", Map.of("environment_id", environment, "command", "true"))
            .expect(200);
      }
      client.call("POST", "/v1/environments/" + environment + "/reset", "").expect(200);
      client.shell(environment);
      client.delete("/v1/environments/" + environment).expect(204);
      service.kill();
      try (var journal = new JournalFile(service.root())) {
        assertThat(journal.events("Environment|" + environment)).isZero();
        assertThat(journal.events("Shell|sh_" + hex + "%")).isZero();
        assertThat(journal.snapshots("%" + hex + "%")).isZero();
      }
      service.restart();
      await()
          .atMost(Duration.ofSeconds(20))
          .untilAsserted(
              () ->
                  assertThat(
                          service
                              .as(RunningService.OPERATOR)
                              .get("/v1/admin/environments")
                              .expect(200)
                              .path("environments"))
                      .isEmpty());
    }
  }

  @Test
  void aResetLeavesNoRowsOfTheShellsItForgot() throws Exception {
    try (RunningService service = RunningService.start(directory, Map.of())) {
      Client client = service.as("alice");
      String environment = client.environment("reset");
      String shell = client.shell(environment);
      client.exec(shell, "true", 20_000).expect(200);
      client.call("POST", "/v1/environments/" + environment + "/reset", "").expect(200);
      String fresh = client.shell(environment);
      client.exec(fresh, "true", 20_000).expect(200);
      service.process().terminate();
      service.process().exit(Duration.ofSeconds(60));
      try (var journal = new JournalFile(service.root())) {
        assertThat(journal.events("Shell|" + shell)).isZero();
        assertThat(journal.events("Shell|" + fresh)).isPositive();
      }
    }
  }
}
