package io.envapi.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What the service holds after many commands, and after many environments came and went, is what it
 * held before.
 */
class LeakTest {

  private static final int COMMANDS = 1_000;
  private static final int ONE_SHOTS = 200;

  /** {@code -Denvapi.leak.cycles=500} for the long run. */
  private static final int CYCLES = Integer.getInteger("envapi.leak.cycles", 30);

  private static final Path GROUPS = Path.of("/sys/fs/cgroup");
  private static final int GROUPS_DEPTH = 7;

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

      awaitNoMoreThan(before, service);
      assertThat(client.get("/v1/shells/" + shell).expect(200).path("state").asText())
          .isEqualTo("running");
    }
  }

  @Test
  void environmentsLeaveNothingBehind() throws Exception {
    try (RunningService service = RunningService.start(directory, Map.of())) {
      Client client = service.as("alice");
      cycle(client, 10);
      Held before = Held.by(service.process());

      Set<String> gone = cycle(client, CYCLES);

      awaitNoMoreThan(before, service);
      assertThat(service.root().resolve("environments")).isEmptyDirectory();
      // Another's group may go while this looks.
      await()
          .ignoreException(UncheckedIOException.class)
          .untilAsserted(() -> assertThat(groups(gone)).isEmpty());
    }
  }

  private static List<Path> groups(Set<String> environments) throws IOException {
    try (Stream<Path> groups =
        Files.find(
            GROUPS,
            GROUPS_DEPTH,
            (path, _) -> environments.contains("env_" + path.getFileName()))) {
      return groups.toList();
    }
  }

  /** Environments that are made, used and deleted; their ids. */
  private static Set<String> cycle(Client client, int count) throws IOException {
    var ids = new HashSet<String>();
    for (int number = 0; number < count; number++) {
      String environment = client.environment("cycle");
      work(client, environment, client.shell(environment), 1, 1);
      client.delete("/v1/environments/" + environment).expect(204);
      ids.add(environment);
    }
    return ids;
  }

  private static void awaitNoMoreThan(Held before, RunningService service) {
    await()
        .atMost(Duration.ofSeconds(20))
        .untilAsserted(
            () -> {
              Held after = Held.by(service.process());
              assertThat(after.descriptors()).isLessThanOrEqualTo(before.descriptors());
              assertThat(after.children()).isEqualTo(before.children());
              assertThat(after.zombies()).isZero();
              assertThat(after.mounts()).isEqualTo(before.mounts());
              assertThat(after.threads()).isLessThanOrEqualTo(before.threads() + THREADS);
              assertThat(after.rss()).isLessThan(before.rss() + RSS_BYTES);
            });
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

  private record Held(
      int descriptors, int threads, int children, long zombies, int mounts, long rss) {

    static Held by(JavaProcess process) throws IOException {
      var children = process.children();
      return new Held(
          process.descriptors(),
          process.threads(),
          children.size(),
          children.stream().filter(c -> c.state().equals("Z")).count(),
          Files.readAllLines(Path.of("/proc/" + process.pid() + "/mountinfo")).size(),
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
