package io.envapi.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What callers do to their own shells, and that it is their own alone that suffers. */
class HostileShellsTest {

  @RegisterExtension static final SharedService shared = new SharedService(Map.of());

  private final Client client = shared.client();
  private String environment = "";

  @BeforeEach
  void environment() throws IOException {
    environment = client.environment("hostile");
  }

  private JsonNode run(String shell, String command) throws IOException {
    return client.exec(shell, command, 30_000).expect(200);
  }

  private Answer open(Map<String, ?> wanted) throws IOException {
    return client.post("/v1/environments/" + environment + "/shells", wanted);
  }

  private Answer type(String shell, Map<String, ?> input) throws IOException {
    return client.post("/v1/shells/" + shell + "/stdin", input);
  }

  @Test
  void limitsTooSmallForAnythingHarmNobodyElse() throws Exception {
    for (Map<String, Integer> limits :
        List.of(
            Map.of("max_memory_bytes", 1),
            Map.of("max_memory_bytes", 100_000),
            Map.of("max_processes_per_shell", 1),
            Map.of("max_memory_bytes", 1, "max_processes_per_shell", 1))) {
      String tiny =
          client
              .post("/v1/environments", Map.of("name", "tiny", "limits", limits))
              .expect(201)
              .path("id")
              .asText();
      String shell = client.shell(tiny);
      assertThat(run(shell, "echo $((1 + 1))").path("output").asText()).isEqualTo("2\n");
      assertThat(client.exec(shell, "head -c 50000000 /dev/zero | tail -c 1 | wc -c", 30_000))
          .extracting(Answer::status)
          .isEqualTo(200);

      assertThat(run(client.shell(environment), "echo $(echo fine)").path("output").asText())
          .isEqualTo("fine\n");
      client.delete("/v1/environments/" + tiny).expect(204);
    }
  }

  @Test
  void aShellThatWasStoppedGoesOnToItsEnd() throws Exception {
    String itself = client.shell(environment);
    JsonNode ended = run(itself, "(sleep 0.3; kill -CONT $$) & kill -STOP $$; exit 5");
    assertThat(ended.path("state").asText()).isEqualTo("shell_died");
    assertThat(ended.path("exit_code").asInt()).isEqualTo(5);

    String other = client.shell(environment);
    String pid = run(other, "echo $$").path("output").asText().strip();
    for (String signal : List.of("STOP", "CONT")) {
      String inside = "kill -" + signal + " " + pid;
      assertThat(run(client.shell(environment), inside).path("exit_code").asInt()).isZero();
    }
    assertThat(run(other, "echo here").path("output").asText()).isEqualTo("here\n");
    assertThat(run(other, "exit 3").path("exit_code").asInt()).isEqualTo(3);
    assertThat(client.get("/v1/shells/" + other).expect(200).path("dead_reason").asText())
        .isEqualTo("exit:3");
  }

  @Test
  void aShellStaysStoppedUntilItIsContinued() throws Exception {
    String shell = client.shell(environment);
    client.exec(shell, "kill -STOP $$; echo woken", 0).expect(200);
    String other = client.shell(environment);
    run(other, "sleep 1");
    assertThat(output(shell)).isEmpty();
    run(other, "kill -CONT " + shellInside(other));
    await().atMost(Duration.ofSeconds(20)).until(() -> output(shell).equals("woken\n"));
  }

  /** The one other shell of the environment, as the shells see it. */
  private String shellInside(String from) throws IOException {
    return run(
            from,
            "for p in /proc/[0-9]*; do grep -q '^State:.T' $p/status && echo ${p#/proc/}; done")
        .path("output")
        .asText()
        .strip();
  }

  private String output(String shell) throws IOException {
    return client.get("/v1/shells/" + shell + "/output?cursor=0").expect(200).path("data").asText();
  }

  @Test
  void aShellDoesNotStartWhereItMayNotGo() throws Exception {
    String shell = client.shell(environment);
    run(
        shell,
        "mkdir -p real/deep shut; chmod 000 shut; ln -s /workspace/real abs; ln -s abs/deep on");
    run(shell, "ln -s /etc out; ln -s ../.. up; ln -s loop loop; echo >file; ln -s /workspace top");
    open(Map.of("cwd", "shut")).refused(422, "validation_error");
    once("shut").refused(422, "validation_error");
    for (Map.Entry<String, String> each :
        Map.of("abs", "real", "on", "real/deep", "top/abs/../real", "real", "top", ".")
            .entrySet()) {
      JsonNode opened = open(Map.of("cwd", each.getKey())).expect(201);
      assertThat(opened.path("cwd").asText()).isEqualTo(each.getValue());
      String id = opened.path("id").asText();
      assertThat(run(id, "pwd -P").path("output").asText().strip())
          .isEqualTo(each.getValue().equals(".") ? "/workspace" : "/workspace/" + each.getValue());
      client.delete("/v1/shells/" + id).expect(200);
    }
    for (String outside :
        List.of(
            "out",
            "up",
            "abs/../../x",
            "missing/../../x",
            "/etc",
            "/workspace/../etc",
            "../missing")) {
      open(Map.of("cwd", outside)).refused(400, "path_outside_workspace");
    }
    for (String none : List.of("loop", "file", "file/x", "missing", "missing/..")) {
      open(Map.of("cwd", none)).refused(422, "validation_error");
    }
  }

  private Answer once(String cwd) throws IOException {
    return client.post(
        "/v1/exec", Map.of("environment_id", environment, "command", "pwd", "cwd", cwd));
  }

  @Test
  void anInterruptWithJobControlEndsTheCommandAndNotTheShell() throws Exception {
    String shell = open(Map.of("pty", true)).expect(201).path("id").asText();
    run(shell, "kept=yes");
    String command =
        client.exec(shell, "set -m; echo begun; sleep 600", 0).expect(200).path("id").asText();
    await().atMost(Duration.ofSeconds(20)).until(() -> output(shell).contains("begun"));
    type(shell, Map.of("data", "\u0003", "target", "tty")).expect(200);
    await()
        .atMost(Duration.ofSeconds(20))
        .until(() -> !record(command).path("state").asText().equals("running"));
    JsonNode ended = record(command);
    assertThat(ended.path("state").asText()).isEqualTo("exited");
    assertThat(ended.path("exit_code").asInt()).isEqualTo(130);
    assertThat(run(shell, "echo $kept").path("output").asText()).isEqualTo("yes\r\n");
  }

  @Test
  void variablesWithWhichNoProgramWouldStartAreRefused() throws Exception {
    String most = "x".repeat(128 * 1024 - 3);
    String shell = open(Map.of("env", Map.of("A", most))).expect(201).path("id").asText();
    assertThat(run(shell, "/bin/echo ${#A}").path("output").asText())
        .isEqualTo(most.length() + "\n");
    open(Map.of("env", Map.of("A", most + "x"))).refused(422, "validation_error");
    Map<String, String> many = new TreeMap<>();
    for (int i = 0; i < 9; i++) {
      many.put("B" + i, most.substring(1));
    }
    open(Map.of("env", many)).refused(422, "validation_error");
  }

  private JsonNode record(String command) throws IOException {
    return client.get("/v1/commands/" + command).expect(200);
  }

  @Test
  void inputSentAgainAfterItsEndIsNoError() throws Exception {
    String shell = client.shell(environment);
    client.exec(shell, "cat", 0).expect(200);
    Map<String, Object> last = Map.of("data", "abc", "offset", 0, "eof", true);
    type(shell, last).expect(200);
    type(shell, last).expect(200);
    type(shell, Map.of("data", "b", "offset", 1)).expect(200);
    type(shell, Map.of("data", "abcd", "offset", 0)).refused(409, "conflict");
    type(shell, Map.of("data", "d")).refused(409, "conflict");
    await().atMost(Duration.ofSeconds(20)).until(() -> output(shell).equals("abc"));
  }

  @Test
  void aTerminalHasNoEnd() throws Exception {
    String shell = open(Map.of("pty", true)).expect(201).path("id").asText();
    type(shell, Map.of("data", "", "target", "tty", "eof", true)).refused(422, "validation_error");
    assertThat(run(shell, "echo on").path("output").asText()).isEqualTo("on\r\n");
  }
}
