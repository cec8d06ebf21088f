package io.envapi.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

/**
 * One account that works at random and keeps its own record of what was acknowledged.
 *
 * <p>An operation that was not answered may have happened or not. The record says so until the next
 * check finds out, and goes on from what it finds.
 */
final class CrashClient {

  private static final int MOST_ENVIRONMENTS = 4;
  private static final int FILES = 5;
  private static final String ABSENT = "";

  /**
   * @param files path to content; a set of contents where the last change was not answered
   */
  private record Known(
      Map<String, Set<String>> files, Map<String, String> commands, Set<String> shells) {
    Known() {
      this(new HashMap<>(), new LinkedHashMap<>(), new HashSet<>());
    }
  }

  private final String account;
  private final Client client;
  private final Client operator;
  private final Random random;
  private final AtomicLong acknowledged;
  private final Map<String, Known> environments = new LinkedHashMap<>();
  private final Set<String> perhapsDeleted = new HashSet<>();
  private Set<Long> quota = Set.of(5L << 30);
  private boolean perhapsCreated;
  private String openKey = "";
  private int count;

  CrashClient(String account, Client client, Client operator, long seed, AtomicLong acknowledged) {
    this.account = account;
    this.client = client;
    this.operator = operator;
    this.random = new Random(seed);
    this.acknowledged = acknowledged;
  }

  Set<String> environments() {
    return environments.keySet();
  }

  /** Returns when the service is gone. Fails on an answer that is wrong. */
  Void workUntilNoAnswer() {
    try {
      while (true) {
        step();
        acknowledged.incrementAndGet();
      }
    } catch (IOException e) {
      return null;
    }
  }

  private void step() throws IOException {
    count++;
    if (environments.isEmpty()) {
      create();
      return;
    }
    List<String> ids = List.copyOf(environments.keySet());
    String id = ids.get(random.nextInt(ids.size()));
    switch (random.nextInt(12)) {
      case 0, 1 -> create();
      case 2 -> delete(id);
      case 3 -> reset(id);
      case 4 -> changeQuota();
      case 5, 6, 7 -> write(id);
      case 8 -> deleteFile(id);
      case 9 -> once(id);
      default -> exec(id);
    }
  }

  private void create() throws IOException {
    if (environments.size() >= MOST_ENVIRONMENTS) {
      return;
    }
    if (random.nextBoolean()) {
      openKey = account + "-" + count;
      String id = keyed();
      openKey = "";
      environments.put(id, new Known());
      return;
    }
    perhapsCreated = true;
    String id = client.environment(account + "-" + count);
    perhapsCreated = false;
    environments.put(id, new Known());
  }

  /** The environment of the open key, made once however often it is asked for. */
  private String keyed() throws IOException {
    return client.with("Idempotency-Key", openKey).environment(openKey);
  }

  private void delete(String id) throws IOException {
    perhapsDeleted.add(id);
    client.delete("/v1/environments/" + id).expect(204);
    perhapsDeleted.remove(id);
    environments.remove(id);
  }

  private void reset(String id) throws IOException {
    Known known = environments.get(id);
    Map<String, Set<String>> before = new HashMap<>(known.files());
    before.forEach((path, contents) -> known.files().put(path, or(contents, ABSENT)));
    known.commands().clear();
    known.shells().clear();
    client.call("POST", "/v1/environments/" + id + "/reset", "").expect(200);
    known.files().clear();
  }

  private void changeQuota() throws IOException {
    long fresh = (1L << 30) + random.nextInt(1 << 20);
    Set<Long> before = quota;
    quota = Set.of(fresh, before.iterator().next());
    operator
        .call(
            "PUT",
            "/v1/admin/quotas/" + account,
            Map.of("overrides", Map.of("max_disk_bytes", fresh)))
        .expect(200);
    quota = Set.of(fresh);
  }

  private void write(String id) throws IOException {
    String path = "file-" + random.nextInt(FILES);
    String content = "content " + count;
    Known known = environments.get(id);
    known.files().merge(path, Set.of(ABSENT, content), (old, _) -> or(old, content));
    client
        .call(
            "PUT",
            "/v1/environments/" + id + "/files/content",
            Map.of("path", path, "content", content))
        .expect(200);
    known.files().put(path, Set.of(content));
  }

  private void deleteFile(String id) throws IOException {
    Known known = environments.get(id);
    if (known.files().isEmpty()) {
      return;
    }
    String path = known.files().keySet().iterator().next();
    known.files().computeIfPresent(path, (_, old) -> or(old, ABSENT));
    client.delete("/v1/environments/" + id + "/files/content?path=" + path).expect(200);
    known.files().remove(path);
  }

  private void once(String id) throws IOException {
    String text = "once " + count;
    JsonNode ran =
        client
            .post("/v1/exec", Map.of("environment_id", id, "command", "echo " + text))
            .expect(200);
    assertThat(ran.path("output").asText()).isEqualTo(text + "\n");
    environments.get(id).commands().put(ran.path("id").asText(), text + "\n");
  }

  /** Leaves something running behind the command. */
  private void exec(String id) throws IOException {
    Known known = environments.get(id);
    if (known.shells().isEmpty()) {
      known.shells().add(client.shell(id));
    }
    String shell = known.shells().iterator().next();
    String text = "exec " + count;
    JsonNode ran =
        client.exec(shell, "sleep 1000 & setsid sleep 1000 & echo " + text, 30_000).expect(200);
    assertThat(ran.path("state").asText()).isEqualTo("exited");
    known.commands().put(ran.path("id").asText(), text + "\n");
  }

  private static Set<String> or(Set<String> contents, String other) {
    Set<String> both = new HashSet<>(contents);
    both.add(other);
    return both;
  }

  // --- after the restart ---

  /** Compares what the service says with the record, and settles what was open. */
  void check(String about) throws IOException {
    if (!openKey.isEmpty()) {
      environments.put(keyed(), new Known());
      openKey = "";
    }
    settleEnvironments(about);
    for (Map.Entry<String, Known> each : environments.entrySet()) {
      checkFiles(each.getKey(), each.getValue(), about);
      checkShells(each.getKey(), each.getValue(), about);
    }
    long effective =
        operator
            .get("/v1/admin/quotas/" + account)
            .expect(200)
            .path("effective")
            .path("max_disk_bytes")
            .asLong();
    assertThat(effective).as(about).isIn(quota);
    quota = Set.of(effective);
  }

  private void settleEnvironments(String about) throws IOException {
    Set<String> found = new HashSet<>();
    for (JsonNode each : client.get("/v1/environments").expect(200).path("environments")) {
      found.add(each.path("id").asText());
    }
    Set<String> needed = new HashSet<>(environments.keySet());
    needed.removeAll(perhapsDeleted);
    assertThat(found).as("%s: nothing is lost", about).containsAll(needed);
    Set<String> unknown = new HashSet<>(found);
    unknown.removeAll(environments.keySet());
    assertThat(unknown)
        .as("%s: at most the create without an answer", about)
        .hasSizeLessThanOrEqualTo(perhapsCreated ? 1 : 0);
    unknown.forEach(id -> environments.put(id, new Known()));
    environments.keySet().retainAll(found);
    perhapsDeleted.clear();
    perhapsCreated = false;
    for (String id : found) {
      JsonNode usage = client.get("/v1/environments/" + id + "/usage").expect(200);
      assertThat(usage.path("environments").path("in_account").asInt())
          .as("%s: what counts against the quota", about)
          .isEqualTo(found.size());
      assertThat(usage.path("shells").path("running").asInt()).as(about).isZero();
    }
  }

  private void checkFiles(String id, Known known, String about) throws IOException {
    for (Map.Entry<String, Set<String>> file : Map.copyOf(known.files()).entrySet()) {
      Answer answer = client.get("/v1/environments/" + id + "/files/content?path=" + file.getKey());
      String content =
          answer.status() == 404 ? ABSENT : answer.expect(200).path("content").asText();
      assertThat(content).as("%s: %s of %s", about, file.getKey(), id).isIn(file.getValue());
      if (content.equals(ABSENT)) {
        known.files().remove(file.getKey());
      } else {
        known.files().put(file.getKey(), Set.of(content));
      }
    }
  }

  private void checkShells(String id, Known known, String about) throws IOException {
    for (JsonNode shell :
        client.get("/v1/environments/" + id + "/shells").expect(200).path("shells")) {
      assertThat(shell.path("state").asText()).as(about).isIn("dead", "closed");
    }
    for (Map.Entry<String, String> command : known.commands().entrySet()) {
      JsonNode record = client.get("/v1/commands/" + command.getKey()).expect(200);
      assertThat(record.path("state").asText()).as(about).isEqualTo("exited");
      assertThat(record.path("exit_code").asInt(-1)).as(about).isZero();
      assertThat(record.path("output").asText()).as(about).isEqualTo(command.getValue());
    }
    known.shells().clear();
  }
}
