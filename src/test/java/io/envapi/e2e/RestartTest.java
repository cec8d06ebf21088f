package io.envapi.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What is there, and what is not, after the service was killed and started again. */
class RestartTest {

  @RegisterExtension static final SharedService shared = new SharedService(Map.of());

  private final RunningService service = shared.service();
  private final Client client = shared.client();
  private final String seconds = shared.seconds();

  @Test
  void aKilledServiceLosesNothingAndLeavesNothingRunning() throws Exception {
    String environment = client.environment("kept");
    String shell = client.shell(environment);
    client.exec(shell, "echo before", 10_000).expect(200);
    String command = run(shell, "echo during; sleep " + seconds);
    String other = client.shell(environment);
    run(other, detached() + "; sleep " + seconds);
    awaitSleeps(5);
    awaitOutput(command, "during\n");

    service.kill();
    service.restart();

    awaitSleeps(0);
    assertThat(client.get("/v1/environments").expect(200).path("environments"))
        .extracting(e -> e.path("id").asText())
        .containsExactly(environment);
    assertDead(shell);
    assertDead(other);
    JsonNode kept = client.get("/v1/environments/" + environment).expect(200);
    assertThat(kept.path("shells_running").asInt(-1)).isZero();
    JsonNode lost = client.get("/v1/commands/" + command).expect(200);
    assertThat(lost.path("state").asText()).isEqualTo("shell_died");
    assertThat(lost.path("reason").asText()).isEqualTo("service_restarted");
    assertThat(lost.path("exit_code").isNull()).isTrue();
    assertThat(lost.path("finished_at").isNumber()).isTrue();
    assertThat(lost.path("output").asText()).isEqualTo("during\n");
    JsonNode commands = client.get("/v1/shells/" + shell + "/commands").expect(200);
    assertThat(commands.path("commands"))
        .extracting(c -> c.path("command").asText() + " " + c.path("state").asText())
        .containsExactly("echo before exited", "echo during; sleep " + seconds + " shell_died");
    assertThat(
            client
                .get("/v1/commands/" + commands.path("commands").path(0).path("id").asText())
                .expect(200)
                .path("output")
                .asText())
        .isEqualTo("before\n");

    client.exec(shell, "true", 0).refused(409, "shell_not_running");
    client
        .post("/v1/shells/" + shell + "/stdin", Map.of("data", "x"))
        .refused(409, "shell_not_running");
    client
        .post("/v1/shells/" + shell + "/signal", Map.of("signal", "TERM"))
        .refused(409, "shell_not_running");
    String fresh = client.shell(environment);
    assertThat(client.exec(fresh, "echo again", 10_000).expect(200).path("output").asText())
        .isEqualTo("again\n");
  }

  @Test
  void twoRestartsInARowTellTheSame() throws Exception {
    String environment = client.environment("kept");
    String shell = client.shell(environment);
    String command = run(shell, "sleep " + seconds);
    awaitSleeps(1);

    service.kill();
    service.restart();
    awaitSleeps(0);
    JsonNode shellOnce = client.get("/v1/shells/" + shell).expect(200);
    JsonNode commandOnce = client.get("/v1/commands/" + command).expect(200);
    service.kill();
    service.restart();

    assertThat(client.get("/v1/shells/" + shell).expect(200)).isEqualTo(shellOnce);
    assertThat(client.get("/v1/commands/" + command).expect(200)).isEqualTo(commandOnce);
  }

  @Test
  void aServiceKilledWhileItStartsFinishesTheWorkAtTheNextStart() throws Exception {
    String environment = client.environment("kept");
    String shell = client.shell(environment);
    String command = run(shell, "sleep " + seconds);
    awaitSleeps(1);
    service.kill();
    try (JavaProcess halfway = service.another(Map.of())) {
      await()
          .atMost(Duration.ofSeconds(30))
          .pollInterval(Duration.ofMillis(2))
          .until(() -> halfway.log().contains("took up"));
      halfway.kill();
    }

    service.restart();

    awaitSleeps(0);
    assertDead(shell);
    assertThat(client.get("/v1/commands/" + command).expect(200).path("reason").asText())
        .isEqualTo("service_restarted");
  }

  @Test
  void aProcessThatHasTheNumberOfAShellNowIsLeftAlone() throws Exception {
    String environment = client.environment("kept");
    String recycled = client.shell(environment);
    String rebooted = client.shell(environment);
    String alive = client.shell(environment);
    service.kill();
    Process first = new ProcessBuilder("/bin/sleep", seconds).start();
    Process second = new ProcessBuilder("/bin/sleep", seconds).start();
    Process third = new ProcessBuilder("/bin/sleep", seconds).start();
    try (var journal = new JournalFile(service.root())) {
      // The number of a process that lives, with the start of the one that had it before.
      assertThat(journal.rewriteShell(recycled, shell -> forEach(shell, "pid", first.pid())))
          .isEqualTo(1);
      // All but the boot as it is now: what a machine looks like after it was started again.
      long start = startTicks(second.pid());
      assertThat(
              journal.rewriteShell(
                  rebooted,
                  shell -> {
                    forEach(shell, "pid", second.pid());
                    forEach(shell, "startTicks", start);
                    for (String role : new String[] {"process", "shell"}) {
                      ((ObjectNode) shell.path(role))
                          .put("bootId", "00000000-0000-4000-8000-000000000000");
                    }
                  }))
          .isEqualTo(1);
      // To the kernel this is the recorded process, so that the two above are known to have been
      // looked at.
      long exact = startTicks(third.pid());
      journal.rewriteShell(
          alive,
          shell -> {
            forEach(shell, "pid", third.pid());
            forEach(shell, "startTicks", exact);
          });
    }

    service.restart();

    assertDead(recycled);
    assertDead(rebooted);
    assertThat(first.isAlive()).isTrue();
    assertThat(second.isAlive()).isTrue();
    await().atMost(Duration.ofSeconds(10)).until(() -> !third.isAlive());
  }

  private static void forEach(ObjectNode shell, String member, long value) {
    for (String role : new String[] {"process", "shell"}) {
      ((ObjectNode) shell.path(role)).put(member, value);
    }
  }

  private static long startTicks(long pid) throws IOException {
    String stat = java.nio.file.Files.readString(Path.of("/proc/" + pid + "/stat"));
    return Long.parseLong(stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1)[19]);
  }

  /** Three sleeps: one in the background, one of another session, one whose parents are gone. */
  private String detached() {
    return "sleep %1$s & setsid sleep %1$s & (setsid sh -c 'sleep %1$s & exit' &)"
        .formatted(seconds);
  }

  private String run(String shell, String command) throws IOException {
    return client.exec(shell, command, 0).expect(200).path("id").asText();
  }

  private void assertDead(String shell) throws IOException {
    JsonNode dead = client.get("/v1/shells/" + shell).expect(200);
    assertThat(dead.path("state").asText()).isEqualTo("dead");
    assertThat(dead.path("dead_reason").asText()).isEqualTo("service_restarted");
  }

  private void awaitSleeps(int count) {
    await()
        .atMost(Duration.ofSeconds(10))
        .untilAsserted(
            () ->
                assertThat(
                        ProcFsView.with(seconds).stream()
                            .filter(p -> p.arguments().startsWith("sleep")))
                    .as("%s", service.log())
                    .hasSize(count));
  }

  private void awaitOutput(String command, String output) {
    await()
        .atMost(Duration.ofSeconds(10))
        .untilAsserted(
            () ->
                assertThat(client.get("/v1/commands/" + command).body().path("output").asText())
                    .isEqualTo(output));
  }
}
