package io.envapi.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Kills the service at random moments of a mixed workload. What was acknowledged is there after
 * each restart, and nothing runs that should not.
 *
 * <p>{@code -Denvapi.crash.rounds=50} for the long run, {@code -Denvapi.crash.seed=} to draw the
 * same operations again; when they meet the kill differs from run to run all the same.
 */
class CrashTest {

  private static final int ROUNDS = Integer.getInteger("envapi.crash.rounds", 5);
  private static final long SEED = Long.getLong("envapi.crash.seed", System.nanoTime());
  private static final int CLIENTS = 3;
  private static final int MOST_ACKNOWLEDGED = 60;
  private static final int UIDS = 5_000;

  private final Random random = new Random(SEED);
  private final int uidBase = 1_000_000 + 10_000 * random.nextInt(10_000);
  private final AtomicLong acknowledged = new AtomicLong();

  @TempDir Path directory;

  @Test
  void nothingAcknowledgedIsLost() throws Exception {
    Map<String, String> variables =
        Map.of(
            "ENVAPI_UID_BASE", Integer.toString(uidBase),
            "ENVAPI_UID_COUNT", Integer.toString(UIDS));
    try (RunningService service = RunningService.start(directory, variables);
        ExecutorService threads = Executors.newFixedThreadPool(CLIENTS)) {
      Client operator = service.as(RunningService.OPERATOR);
      List<CrashClient> clients = new ArrayList<>();
      for (int number = 0; number < CLIENTS; number++) {
        String account = "crash-" + number;
        clients.add(
            new CrashClient(
                account, service.as(account), operator, random.nextLong(), acknowledged));
      }
      for (int round = 1; round <= ROUNDS; round++) {
        workUntilKilled(service, clients, threads);
        service.restart();
        assertNothingRuns();
        String about = "round %d of seed %d".formatted(round, SEED);
        for (CrashClient client : clients) {
          client.check(about);
        }
        assertNoOthers(operator, clients, about);
      }
    }
  }

  private void workUntilKilled(
      RunningService service, List<CrashClient> clients, ExecutorService threads) throws Exception {
    long enough = acknowledged.get() + 1 + random.nextInt(MOST_ACKNOWLEDGED);
    List<Future<?>> working = new ArrayList<>();
    for (CrashClient client : clients) {
      working.add(threads.submit(client::workUntilNoAnswer));
    }
    await()
        .atMost(Duration.ofMinutes(2))
        .pollInterval(Duration.ofMillis(1))
        .until(() -> acknowledged.get() >= enough || working.stream().anyMatch(Future::isDone));
    service.kill();
    for (Future<?> work : working) {
      work.get();
    }
  }

  /** Processes of users that are lent to environments. */
  private void assertNothingRuns() {
    await()
        .atMost(Duration.ofSeconds(20))
        .untilAsserted(() -> assertThat(ProcFsView.ofUids(uidBase, UIDS)).isEmpty());
  }

  /** What an account does not know of must not take room on a host for ever either. */
  private static void assertNoOthers(Client operator, List<CrashClient> clients, String about) {
    await()
        .atMost(Duration.ofSeconds(20))
        .untilAsserted(
            () -> {
              Set<String> known = new HashSet<>();
              clients.forEach(client -> known.addAll(client.environments()));
              Set<String> found = new HashSet<>();
              for (JsonNode each :
                  operator.get("/v1/admin/environments").expect(200).path("environments")) {
                found.add(each.path("id").asText());
              }
              assertThat(found).as(about).isEqualTo(known);
            });
  }
}
