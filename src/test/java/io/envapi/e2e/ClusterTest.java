package io.envapi.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two hosts on one PostgreSQL: each is used through the other, and one goes on without the other.
 */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class ClusterTest {

  private static final int UIDS_OF_THE_OTHER = 400_000;

  /** RFC 8446, section 5.1. */
  private static final int TLS_ALERT = 21;

  /** To notice, to decide, and to start the accounts elsewhere. */
  private static final Duration TAKE_OVER = Duration.ofSeconds(60);

  @TempDir static Path directory;
  private static Postgres postgres;
  private static RunningService first;
  private static RunningService second;
  private static Client alice;
  private static Client operator;
  private static int clusterPort;

  /** Of alice's environments, one on each host. */
  private static String onFirst;

  private static String onSecond;

  @BeforeAll
  static void start() throws Exception {
    postgres = Postgres.start(directory);
    int port = RunningService.freePort();
    clusterPort = port;
    int otherPort = RunningService.freePort();
    var variables =
        new HashMap<>(
            Map.of(
                "ENVAPI_JOURNAL_URL", postgres.url(),
                "ENVAPI_JOURNAL_USER", postgres.user(),
                "ENVAPI_JOURNAL_PASSWORD", postgres.password(),
                "ENVAPI_ASK_TIMEOUT_SECONDS", "5",
                "ENVAPI_CLUSTER_PORT", Integer.toString(port),
                "ENVAPI_CLUSTER_SECRET", "a-secret-that-the-hosts-alone-know",
                "ENVAPI_CLUSTER_SEEDS", "127.0.0.1:%d,127.0.0.1:%d".formatted(port, otherPort)));
    // The second could make a cluster of its own: that there is one it knows from the database.
    first = RunningService.start(Files.createDirectory(directory.resolve("first")), variables);
    second =
        first.beside(
            Files.createDirectory(directory.resolve("second")),
            Map.of(
                "ENVAPI_CLUSTER_PORT", Integer.toString(otherPort),
                "ENVAPI_CLUSTER_SEEDS", "127.0.0.1:" + otherPort,
                "ENVAPI_UID_BASE", Integer.toString(UIDS_OF_THE_OTHER)));
    alice = first.as("alice");
    operator = first.as(RunningService.OPERATOR);
  }

  @AfterAll
  static void stop() throws Exception {
    for (RunningService each : new RunningService[] {second, first}) {
      if (each != null) {
        each.close();
      }
    }
    if (postgres != null) {
      postgres.close();
    }
  }

  @Test
  @Order(1)
  void eachHostIsUsedThroughTheOther() throws Exception {
    await()
        .atMost(TAKE_OVER)
        .untilAsserted(
            () -> {
              assertThat(hosts(operator)).hasSize(2);
              assertThat(hosts(second.as(operator))).isEqualTo(hosts(operator));
            });
    List<String> made = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      made.add(alice.environment("e" + i));
    }
    onFirst = made.stream().filter(e -> isOn(first, e)).findFirst().orElseThrow();
    onSecond = made.stream().filter(e -> isOn(second, e)).findFirst().orElseThrow();

    awaitUse(alice, onSecond);
    awaitUse(second.as(alice), onFirst);

    JsonNode once =
        alice
            .with("Idempotency-Key", "k")
            .post("/v1/environments", Map.of("name", "e4"))
            .expect(201);
    assertThat(
            second
                .as(alice)
                .with("Idempotency-Key", "k")
                .post("/v1/environments", Map.of("name", "e4"))
                .expect(201))
        .isEqualTo(once);
    alice.delete("/v1/environments/" + once.path("id").asText()).expect(204);
    assertThat(names(alice)).isEqualTo(names(second.as(alice))).hasSize(4);
    JsonNode audit = operator.get("/v1/admin/audit?limit=1000").expect(200);
    assertThat(audit.path("unreachable_hosts")).isEmpty();
    assertThat(audit).isEqualTo(second.as(operator).get("/v1/admin/audit?limit=1000").body());
    List<JsonNode> events = new ArrayList<>();
    audit.path("events").forEach(events::add);
    assertThat(events)
        .isSortedAccordingTo((a, b) -> Double.compare(ts(a), ts(b)))
        .extracting(e -> e.path("action").asText() + " " + e.path("environment_id").asText())
        .contains("shell.exec " + onFirst, "shell.exec " + onSecond);
    JsonNode newest = operator.get("/v1/admin/audit?limit=2&action=shell.exec").body();
    assertThat(newest.path("events")).hasSize(2);
    assertThat(newest.path("events").get(1).path("environment_id").asText()).isEqualTo(onFirst);
  }

  /** What a command in an environment with network could try at the port of its own host. */
  @Test
  @Order(1)
  void aStrangerIsNotHeard() throws Exception {
    try (var socket = new Socket("127.0.0.1", clusterPort)) {
      socket.setSoTimeout(20_000);
      socket.getOutputStream().write(new byte[] {'A', 'K', 'K', 'A', 1, 0, 0, 0, 0});
      socket.getOutputStream().flush();
      int answer = socket.getInputStream().read();
      assertThat(answer).as("an alert of TLS, or the end").isIn(TLS_ALERT, -1);
    }
  }

  /** A busy host may not be heard for a while, and what goes through it then fails at once. */
  private static void awaitUse(Client client, String environment) {
    await()
        .atMost(TAKE_OVER)
        .ignoreExceptionsInstanceOf(ConditionTimeoutException.class)
        .untilAsserted(() -> use(client, environment));
  }

  /** Shells, streams, and what is larger than an ordinary message between hosts. */
  private static void use(Client client, String environment) throws Exception {
    String shell = client.shell(environment);
    try (EventStream stream = client.follow("/v1/shells/" + shell + "/output/stream")) {
      assertThat(client.exec(shell, "echo through", 20_000).expect(200).path("output").asText())
          .isEqualTo("through\n");
      await()
          .untilAsserted(
              () -> assertThat(stream.names()).as("%s", stream.events()).contains("output"));
    }
    String file = "/v1/environments/" + environment + "/files/content";
    String large = "0123456789abcde\n".repeat(150_000);
    client.call("PUT", file, Map.of("path", "large.txt", "content", large)).expect(200);
    assertThat(client.get(file + "?path=large.txt").expect(200).path("content").asText())
        .isEqualTo(large.substring(0, 1 << 20));
    var raw = client.open("GET", file.replace("content", "raw") + "?path=large.txt", "");
    assertThat(raw.body().readAllBytes()).isEqualTo(large.getBytes(StandardCharsets.UTF_8));
    assertThat(
            client
                .exec(shell, "head -c 600000 large.txt | wc -c; cat large.txt", 20_000)
                .expect(200)
                .path("output")
                .asText())
        .hasSizeGreaterThan(100_000);
    client.get(file + "?path=none").expect(404);
    assertThat(
            client
                .post("/v1/exec", Map.of("command", "pwd; exit 3", "environment_id", environment))
                .expect(200)
                .path("exit_code")
                .asInt())
        .isEqualTo(3);
  }

  /** The first one, on which the cluster's singletons are, and which made the cluster. */
  @Test
  @Order(2)
  void oneThatIsLostTakesNothingElseWithIt() throws Exception {
    JavaProcess stranger =
        first.another(
            Map.of(
                "ENVAPI_ROOT", directory.resolve("stranger").toString(),
                "ENVAPI_HTTP_PORT", "0",
                "ENVAPI_CLUSTER_PORT", "0",
                "ENVAPI_CLUSTER_SEEDS", ""));
    Client through = second.as(alice);
    List<Client> others = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      Client other = second.as(first.as("other-" + i));
      other.get("/v1/environments").expect(200);
      others.add(other);
    }
    String shell = through.shell(onFirst);
    CompletableFuture<Answer> waiting =
        through.send(
            "POST",
            "/v1/shells/" + shell + "/exec",
            Map.of("command", "echo begun; sleep 80", "wait_ms", 60_000));
    await()
        .atMost(TAKE_OVER)
        .until(
            () ->
                through
                    .get("/v1/shells/" + shell + "/output")
                    .body()
                    .path("data")
                    .asText()
                    .contains("begun"));
    Set<String> both = hosts(operator);
    EventStream followed = through.follow("/v1/shells/" + shell + "/output/stream");
    followed.awaitOutput("begun");

    first.kill();

    Answer lost = waiting.get(30, TimeUnit.SECONDS);
    lost.refused(503, "host_unavailable");
    EventStream.Event last = followed.awaitEnd();
    assertThat(last.name()).isEqualTo("error");
    assertThat(last.data().path("code").asText()).isEqualTo("host_unavailable");
    followed.close();
    awaitUse(through, onSecond);
    for (Client each : others) {
      await().atMost(TAKE_OVER).untilAsserted(() -> each.get("/v1/environments").expect(200));
    }
    Answer away = through.get("/v1/environments/" + onFirst);
    away.refused(503, "host_unavailable");
    assertThat(away.header("Retry-After")).isNotEmpty();
    String fresh = through.environment("fresh");
    assertThat(isOn(second, fresh)).isTrue();
    JsonNode known = second.as(operator).get("/v1/admin/hosts").expect(200);
    assertThat(known.path("hosts")).hasSize(1);
    assertThat(known.path("unreachable_hosts")).hasSize(1);
    var all = new TreeSet<String>();
    all.add(known.path("hosts").get(0).path("host_id").asText());
    all.add(known.path("unreachable_hosts").get(0).asText());
    assertThat(all).isEqualTo(both);
    JsonNode audit = second.as(operator).get("/v1/admin/audit").expect(200);
    assertThat(audit.path("unreachable_hosts")).isEqualTo(known.path("unreachable_hosts"));
    assertThat(audit.path("events")).isNotEmpty();

    first.restart();

    await()
        .atMost(TAKE_OVER)
        .untilAsserted(() -> through.get("/v1/environments/" + onFirst).expect(200));
    assertThat(hosts(second.as(operator))).isEqualTo(both);
    awaitUse(through, onFirst);
    awaitUse(alice, onSecond);
    assertThat(through.get("/v1/shells/" + shell).expect(200).path("state").asText())
        .isEqualTo("dead");

    assertThat(stranger.exit(TAKE_OVER)).isEqualTo(1);
    assertThat(stranger.log()).contains("another host uses this journal");
  }

  /** An ordered end hands over what the others need at once. */
  @Test
  @Order(3)
  void oneThatEndsInOrderIsNotMissed() throws Exception {
    second.process().terminate();
    assertThat(second.process().exit(Duration.ofSeconds(60))).isZero();

    await().atMost(Duration.ofSeconds(10)).untilAsserted(() -> use(alice, onFirst));
    alice.get("/v1/environments/" + onSecond).refused(503, "host_unavailable");
  }

  private static boolean isOn(RunningService service, String environment) {
    return Files.isDirectory(service.root().resolve("environments").resolve(environment));
  }

  private static Set<String> hosts(Client operator) throws Exception {
    var ids = new TreeSet<String>();
    operator
        .get("/v1/admin/hosts")
        .expect(200)
        .path("hosts")
        .forEach(host -> ids.add(host.path("host_id").asText()));
    return ids;
  }

  private static List<String> names(Client client) throws Exception {
    List<String> names = new ArrayList<>();
    client
        .get("/v1/environments")
        .expect(200)
        .path("environments")
        .forEach(environment -> names.add(environment.path("name").asText()));
    return names;
  }

  private static double ts(JsonNode event) {
    return event.path("ts").asDouble();
  }
}
