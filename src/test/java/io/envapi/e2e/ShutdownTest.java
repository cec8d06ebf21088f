package io.envapi.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How the service ends when it is asked to, and what keeps it from starting. */
class ShutdownTest {

  private static final int GRACE_SECONDS = 4;
  private static final Duration GRACE = Duration.ofSeconds(GRACE_SECONDS);

  @TempDir static Path directory;
  private static RunningService service;
  private Client client;
  private final String seconds =
      Integer.toString(1_000_000 + ThreadLocalRandom.current().nextInt(1_000_000_000));

  @BeforeAll
  static void start() throws Exception {
    service =
        RunningService.start(
            directory,
            Map.of(
                "ENVAPI_SHUTDOWN_GRACE_SECONDS",
                Integer.toString(GRACE_SECONDS),
                "ENVAPI_SHELL_CLOSE_GRACE_SECONDS",
                "2"));
  }

  @AfterAll
  static void stop() throws Exception {
    service.close();
  }

  @BeforeEach
  void client() throws Exception {
    service.ensureRunning();
    client = service.as("account-" + seconds);
  }

  @AfterEach
  void killTheRest() throws Exception {
    for (ProcFsView left : ProcFsView.with(seconds)) {
      ProcessHandle.of(left.pid()).ifPresent(ProcessHandle::destroyForcibly);
    }
  }

  @Test
  void whatWaitsIsAnsweredTruthfullyAndNothingStays() throws Exception {
    String environment = client.environment("kept");
    String shell = client.shell(environment);
    String stubborn = client.shell(environment);
    String command =
        client.exec(shell, "printf before; sleep " + seconds, 0).expect(200).path("id").asText();
    client.exec(stubborn, "trap '' TERM; sh -c \"trap '' TERM; sleep " + seconds + "\"", 0);
    await().until(() -> sleeps() == 2);
    CompletableFuture<Answer> waiting =
        client.send("GET", "/v1/shells/" + shell + "/output?cursor=6&wait_ms=60000", "");
    CompletableFuture<Answer> idle =
        client.send("POST", "/v1/shells/" + shell + "/wait", Map.of("timeout_ms", 60_000));
    // Both requests are with the service once a third one, sent later, has been answered.
    client.get("/v1/shells/" + shell).expect(200);

    long began = System.nanoTime();
    service.process().terminate();
    int status = service.process().exit(GRACE.plusSeconds(15));
    Duration took = Duration.ofNanos(System.nanoTime() - began);

    assertThat(status).as("%s", service.log()).isZero();
    // The grace is for requests and shells; the actors and the journal come after it.
    assertThat(took).isLessThan(GRACE.plusSeconds(6));
    assertThat(sleeps()).isZero();
    // The end of its command is what it waited for; the shell's own may come a moment later.
    JsonNode output = waiting.get(1, TimeUnit.SECONDS).expect(200);
    assertThat(output.path("current_command_id").isNull()).isTrue();
    assertThat(idle.get(1, TimeUnit.SECONDS).expect(200).path("status").asText()).isEqualTo("idle");

    int before = service.log().length();
    service.restart();
    // The ends were stored by the service that ended, not made up by the next one.
    assertThat(service.log().substring(before)).doesNotContain("took up");
    for (String id : new String[] {shell, stubborn}) {
      JsonNode ended = client.get("/v1/shells/" + id).expect(200);
      assertThat(ended.path("state").asText()).isEqualTo("dead");
      assertThat(ended.path("dead_reason").asText()).isEqualTo("service_restarted");
    }
    JsonNode record = client.get("/v1/commands/" + command).expect(200);
    assertThat(record.path("state").asText()).isIn("shell_died", "exited");
    assertThat(record.path("output").asText()).isEqualTo("before");
  }

  @Test
  void anIdleServiceEndsAtOnce() throws Exception {
    client.shell(client.environment("kept"));

    service.process().terminate();

    assertThat(service.process().exit(Duration.ofSeconds(20))).isZero();
  }

  @Test
  void theSecondSignalIsObeyedAtOnce() throws Exception {
    String shell = client.shell(client.environment("kept"));
    client.exec(shell, "trap '' TERM; sh -c \"trap '' TERM; sleep " + seconds + "\"", 0);
    await().until(() -> sleeps() == 1);
    CompletableFuture<Answer> waiting =
        client.send("POST", "/v1/shells/" + shell + "/wait", Map.of("timeout_ms", 60_000));
    client.get("/v1/shells/" + shell).expect(200);
    int before = service.log().length();
    service.process().terminate();
    await().until(() -> service.log().substring(before).contains("SIGTERM"));
    assertThat(service.process().isAlive()).isTrue();

    service.process().terminate();

    assertThat(service.process().exit(Duration.ofSeconds(1))).isNotZero();
    assertThat(waiting).failsWithin(Duration.ofSeconds(5));
    service.restart();
    await().atMost(Duration.ofSeconds(10)).until(() -> sleeps() == 0);
  }

  @Test
  void aSecondServiceOnTheSameRootNamesTheFirst() throws Exception {
    try (JavaProcess second = service.another(Map.of())) {
      assertThat(second.exit(Duration.ofSeconds(30))).isEqualTo(1);
      assertThat(second.log().lines())
          .singleElement()
          .asString()
          .contains("process " + service.process().pid())
          .doesNotContain(directory.toString());
    }
    client.get("/v1/environments").expect(200);
  }

  @Test
  void badSettingsStopTheStartWithOneMessage() throws Exception {
    Map<String, String> wrong =
        Map.of(
            "ENVAPI_SHELL_CLOSE_GRACE", "3141",
            "ENVAPI_MAX_DISK_BYTES", "plenty");
    try (JavaProcess second = service.another(wrong)) {
      assertThat(second.exit(Duration.ofSeconds(30))).isEqualTo(1);
      assertThat(second.log().lines())
          .singleElement()
          .asString()
          .contains("ENVAPI_SHELL_CLOSE_GRACE", "ENVAPI_MAX_DISK_BYTES")
          .doesNotContain("3141", "plenty");
    }
  }

  private long sleeps() throws Exception {
    return ProcFsView.with(seconds).stream().filter(p -> p.arguments().startsWith("sleep")).count();
  }
}
