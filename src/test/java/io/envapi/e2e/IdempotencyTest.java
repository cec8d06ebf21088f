package io.envapi.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests with an Idempotency-Key take effect once, whatever happens to the service. */
class IdempotencyTest {

  private static final String ENVIRONMENTS = "/v1/environments";
  private static final Map<String, String> NAMED = Map.of("name", "once");

  @RegisterExtension static final SharedService shared = new SharedService(Map.of());

  private final RunningService service = shared.service();
  private final Client client = shared.client();
  private final String account = shared.account();

  private Client keyed(String key) {
    return client.with("Idempotency-Key", key);
  }

  private int environments() throws IOException {
    return client.get(ENVIRONMENTS).expect(200).path("environments").size();
  }

  @Test
  void theSameRequestIsAnsweredTheSame() throws Exception {
    Answer first = keyed("a key!").call("POST", ENVIRONMENTS, NAMED);
    assertThat(first.status()).as("a blank is not visible").isEqualTo(422);
    first = keyed("a-key!").post(ENVIRONMENTS, NAMED);
    first.expect(201);
    assertThat(first.header("Idempotent-Replayed")).isEmpty();
    Answer second = keyed("a-key!").post(ENVIRONMENTS, NAMED);
    assertThat(second.expect(201)).isEqualTo(first.body());
    assertThat(second.header("Idempotent-Replayed")).isEqualTo("true");
    assertThat(second.header("Content-Type")).isEqualTo(first.header("Content-Type"));
    assertThat(environments()).isEqualTo(1);
  }

  @Test
  void theHeadersOfTheAnswerComeAgain() throws Exception {
    String files = ENVIRONMENTS + "/" + client.environment("e") + "/files/content";
    Map<String, String> file = Map.of("path", "f", "content", "x");
    Answer first = keyed("k").call("PUT", files, file);
    client.call("PUT", files, Map.of("path", "f", "content", "changed since")).expect(200);
    Answer second = keyed("k").call("PUT", files, file);
    assertThat(second.expect(200)).isEqualTo(first.expect(200));
    assertThat(second.header("ETag")).isEqualTo(first.header("ETag")).isNotEmpty();
    assertThat(client.get(files + "?path=f").expect(200).path("content").asText())
        .isEqualTo("changed since");
  }

  @Test
  void refusalsAndEmptyAnswersComeAgainToo() throws Exception {
    keyed("bad").post(ENVIRONMENTS, Map.of("name", "")).refused(422, "validation_error");
    Answer again = keyed("bad").post(ENVIRONMENTS, Map.of("name", ""));
    again.refused(422, "validation_error");
    assertThat(again.header("Idempotent-Replayed")).isEqualTo("true");
    assertThat(again.header("Content-Type")).startsWith("application/problem+json");
    String path = ENVIRONMENTS + "/" + client.environment("e");
    keyed("gone").delete(path).expect(204);
    assertThat(keyed("gone").delete(path).header("Idempotent-Replayed")).isEqualTo("true");
    client.delete(path).refused(404, "not_found");
  }

  @Test
  void anotherRequestWithTheKeyIsAConflict() throws Exception {
    keyed("k").post(ENVIRONMENTS, NAMED).expect(201);
    keyed("k").post(ENVIRONMENTS, Map.of("name", "x")).refused(409, "idempotency_conflict");
    keyed("k").post(ENVIRONMENTS + "?a=b", NAMED).refused(409, "idempotency_conflict");
    keyed("k").post("/v1/exec", NAMED).refused(409, "idempotency_conflict");
    keyed("k")
        .call("PUT", ENVIRONMENTS + "/x/files/content", NAMED)
        .refused(409, "idempotency_conflict");
    assertThat(environments()).isEqualTo(1);
  }

  @Test
  void anotherAccountsKeyIsAnotherKey() throws Exception {
    Client other = service.as(account + "|other").with("Idempotency-Key", "k");
    String mine = keyed("k").post(ENVIRONMENTS, NAMED).expect(201).path("id").asText();
    String theirs = other.post(ENVIRONMENTS, Map.of("name", "x")).expect(201).path("id").asText();
    assertThat(mine).isNotEqualTo(theirs);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " ", "two words"})
  void whatIsNoKeyIsRefused(String key) throws Exception {
    JsonNode refused = keyed(key).post(ENVIRONMENTS, NAMED).refused(422, "validation_error");
    assertThat(refused.path("header").asText()).isEqualTo("Idempotency-Key");
    assertThat(environments()).isZero();
  }

  @Test
  void aKeyHasAtMost255Characters() throws Exception {
    keyed("k".repeat(256)).post(ENVIRONMENTS, NAMED).refused(422, "validation_error");
    keyed("k".repeat(255)).post(ENVIRONMENTS, NAMED).expect(201);
  }

  @Test
  void requestsThatChangeNothingDoNotCareForAKey() throws Exception {
    keyed("k").get(ENVIRONMENTS).expect(200);
    client.environment("e");
    Answer again = keyed("k").get(ENVIRONMENTS);
    assertThat(again.expect(200).path("environments")).hasSize(1);
    assertThat(again.header("Idempotent-Replayed")).isEmpty();
  }

  @Test
  void anAnswerOfEventsIsNotKept() throws Exception {
    String shell = client.shell(client.environment("e"));
    keyed("k")
        .with("Accept", "text/event-stream")
        .post("/v1/exec", Map.of("command", "touch ran", "shell_id", shell))
        .refused(422, "validation_error");
  }

  @Test
  void anAnswerThatIsTooLargeIsNotKeptButTheKeyIs() throws Exception {
    String shell = client.shell(client.environment("e"));
    Map<String, Object> command =
        Map.of(
            "command", "echo x >> ran; head -c 300000 /dev/zero | tr '\\0' x", "wait_ms", 20_000);
    String path = "/v1/shells/" + shell + "/exec";
    keyed("k").post(path, command).expect(200);
    keyed("k").post(path, command).refused(409, "idempotency_conflict");
    assertThat(client.exec(shell, "cat ran", 10_000).expect(200).path("output").asText())
        .isEqualTo("x\n");
  }

  @Test
  void twentyAtOnceMakeOneEnvironment() throws Exception {
    List<CompletableFuture<Answer>> sent = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      sent.add(keyed("k").send("POST", ENVIRONMENTS, NAMED));
    }
    Set<JsonNode> bodies = new HashSet<>();
    int replayed = 0;
    for (CompletableFuture<Answer> each : sent) {
      bodies.add(each.join().expect(201));
      replayed += each.join().header("Idempotent-Replayed").equals("true") ? 1 : 0;
    }
    assertThat(bodies).hasSize(1);
    assertThat(replayed).isEqualTo(19);
    assertThat(environments()).isEqualTo(1);
  }

  @Test
  void theAnswerIsThereAfterASigkill() throws Exception {
    JsonNode first = keyed("k").post(ENVIRONMENTS, NAMED).expect(201);
    service.kill();
    service.restart();
    Answer again = keyed("k").post(ENVIRONMENTS, NAMED);
    assertThat(again.expect(201)).isEqualTo(first);
    assertThat(again.header("Idempotent-Replayed")).isEqualTo("true");
    assertThat(environments()).isEqualTo(1);
  }

  @Test
  void aKillAtAnyMomentOfACreateLeavesOneEnvironment() throws Exception {
    for (int round = 0; round < 4; round++) {
      String key = "round-" + round;
      CompletableFuture<Answer> lost = keyed(key).send("POST", ENVIRONMENTS, NAMED);
      int before = round;
      long nanos = ThreadLocalRandom.current().nextLong(60_000_000);
      long until = System.nanoTime() + nanos;
      while (System.nanoTime() < until && !lost.isDone()) {
        Thread.onSpinWait();
      }
      service.kill();
      lost.handle((answer, failure) -> answer).join();
      service.restart();
      String id = keyed(key).post(ENVIRONMENTS, NAMED).expect(201).path("id").asText();
      assertThat(environments()).isEqualTo(before + 1);
      client.get(ENVIRONMENTS + "/" + id).expect(200);
    }
  }

  @Test
  void anInterruptedCommandIsNotRunAgain() throws Exception {
    String environment = client.environment("e");
    String shell = client.shell(environment);
    Map<String, Object> command = Map.of("command", "echo x >> ran; sleep 60", "wait_ms", 60_000);
    String path = "/v1/shells/" + shell + "/exec";
    var lost = keyed("k").send("POST", path, command);
    String ran = ENVIRONMENTS + "/" + environment + "/files/content?path=ran";
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(() -> assertThat(client.get(ran).status()).isEqualTo(200));
    service.kill();
    lost.handle((answer, failure) -> answer).join();
    service.restart();
    JsonNode refused = keyed("k").post(path, command).refused(409, "idempotency_conflict");
    assertThat(refused.path("detail").asText()).contains("interrupted");
    assertThat(client.get(ran).expect(200).path("content").asText()).isEqualTo("x\n");
  }

  @Test
  void whatIsSafeToRepeatIsDoneAfterAKill() throws Exception {
    String environment = client.environment("e");
    String files = ENVIRONMENTS + "/" + environment + "/files/content";
    Map<String, Object> file = Map.of("path", "f", "content", "x".repeat(4_000_000));
    var lost = keyed("k").send("PUT", files, file);
    service.kill();
    lost.handle((answer, failure) -> answer).join();
    service.restart();
    keyed("k").call("PUT", files, file).expect(200);
    assertThat(client.get(files + "?path=f").expect(200).path("size").asInt()).isEqualTo(4_000_000);
  }
}
