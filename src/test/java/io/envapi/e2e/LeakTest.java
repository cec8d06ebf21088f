package io.envapi.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the service holds after thousands of commands is what it held before. */
class LeakTest {

  private static final int COMMANDS = 2_000;
  private static final int ONE_SHOTS = 200;

  /**
   * The JVM adds compiler threads and carriers of virtual threads, and Pekko dispatcher threads, as
   * load comes and goes. A thread for each command or shell would be hundreds.
   */
  private static final int THREADS = 16;

  /** A collector that has had no reason to run yet; a leak of every command's output is more. */
  private static final long RSS_BYTES = 192L << 20;

  @TempDir Path directory;

  @Test
  void commandsLeaveNothingBehind() throws Exception {
    try (RunningService service = RunningService.start(directory, Map.of())) {
      Client client = service.as("alice");
      String environment = client.environment("busy");
      String shell = client.shell(environment);
      // Pools of a fixed size are full after this.
      work(client, environment, shell, 100, 40);
      Held before = Held.by(service.process());

      work(client, environment, shell, COMMANDS, ONE_SHOTS);

      await()
          .atMost(Duration.ofSeconds(20))
          .untilAsserted(
              () -> {
                Held after = Held.by(service.process());
                assertThat(after.descriptors()).isLessThanOrEqualTo(before.descriptors());
                assertThat(after.children()).isEqualTo(before.children());
                assertThat(after.zombies()).isZero();
                assertThat(after.threads()).isLessThanOrEqualTo(before.threads() + THREADS);
                assertThat(after.rss()).isLessThan(before.rss() + RSS_BYTES);
              });
      assertThat(client.get("/v1/shells/" + shell).expect(200).path("state").asText())
          .isEqualTo("running");
    }
  }

  private static void work(
      Client client, String environment, String shell, int commands, int oneShots)
      throws IOException {
    for (int number = 0; number < commands; number++) {
      JsonNode ran = client.exec(shell, "true", 30_000).expect(200);
      assertThat(ran.path("exit_code").asInt(-1)).as("%s", ran).isZero();
    }
    for (int number = 0; number < oneShots; number++) {
      JsonNode ran =
          client
              .post("/v1/exec", Map.of("environment_id", environment, "command", "exit 3"))
              .expect(200);
      assertThat(ran.path("exit_code").asInt(-1)).as("%s", ran).isEqualTo(3);
    }
  }

  private record Held(int descriptors, int threads, int children, long zombies, long rss) {

    static Held by(JavaProcess process) throws IOException {
      var children = process.children();
      return new Held(
          process.descriptors(),
          process.threads(),
          children.size(),
          children.stream().filter(c -> c.state().equals("Z")).count(),
          rss(process.pid()));
    }

    private static long rss(long pid) throws IOException {
      for (String line : Files.readAllLines(Path.of("/proc/" + pid + "/status"))) {
        if (line.startsWith("VmRSS:")) {
          return Long.parseLong(line.replaceAll("[^0-9]", "")) * 1024;
        }
      }
      throw new IOException("no VmRSS");
    }
  }
}
