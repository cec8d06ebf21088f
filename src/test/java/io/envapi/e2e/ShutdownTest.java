package io.envapi.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** How the service ends when it is asked to, and what keeps it from starting. */
class ShutdownTest {

  private static final int GRACE_SECONDS = 4;
  private static final Duration GRACE = Duration.ofSeconds(GRACE_SECONDS);

  @RegisterExtension
  static final SharedService shared =
      new SharedService(
          Map.of(
              "ENVAPI_SHUTDOWN_GRACE_SECONDS",
              Integer.toString(GRACE_SECONDS),
              "ENVAPI_SHELL_CLOSE_GRACE_SECONDS",
              "2"));

  private final RunningService service = shared.service();
  private final Client client = shared.client();
  private final String seconds = shared.seconds();

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

    List<Path> groups = controlGroups(environment);
    long began = System.nanoTime();
    service.process().terminate();
    int status = service.process().exit(GRACE.plusSeconds(15));
    Duration took = Duration.ofNanos(System.nanoTime() - began);

    assertThat(status).as("%s", service.log()).isZero();
    // The grace is for requests and shells; the actors and the journal come after it.
    assertThat(took).isLessThan(GRACE.plusSeconds(6));
    assertThat(sleeps()).isZero();
    assertThat(groups).noneMatch(Files::exists);
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
  void everyStreamIsToldOfTheEndAndGoesOnAfterIt() throws Exception {
    String environment = client.environment("kept");
    String shell = client.shell(environment);
    String followed = client.shell(environment);
    String counting = "for ((i = 0; ; i++)); do echo $i; sleep 0.01; done";
    String command = client.exec(shell, counting, 0).expect(200).path("id").asText();
    String output = "/v1/commands/" + command + "/output/stream";
    String events = "/v1/environments/" + environment + "/events";
    try (EventStream ofShell = client.follow("/v1/shells/" + shell + "/output/stream");
        EventStream ofCommand = client.follow(output);
        EventStream ofEnvironment = client.follow(events);
        EventStream ofFiles =
            client.follow("/v1/environments/" + environment + "/files/watch?depth=0");
        EventStream ofExec =
            client.followed(
                "/v1/shells/" + followed + "/exec", Map.of("command", "echo here; sleep 600"));
        EventStream once =
            client.followed(
                "/v1/exec",
                Map.of("environment_id", environment, "command", "echo here; sleep 600"))) {
      ofShell.awaitOutput("\n20\n");
      ofCommand.awaitOutput("\n20\n");
      ofExec.awaitOutput("here\n");
      once.awaitOutput("here\n");
      ofEnvironment.awaitEvent(event -> !event.id().isEmpty());
      client.exec(client.shell(environment), "touch made", 30_000).expect(200);
      ofFiles.awaitEvent("created");

      service.process().terminate();
      assertThat(service.process().exit(GRACE.plusSeconds(15))).as("%s", service.log()).isZero();

      List<EventStream> all = List.of(ofShell, ofCommand, ofEnvironment, ofFiles, ofExec, once);
      for (EventStream each : all) {
        EventStream.Event last = each.awaitEnd();
        assertThat(each.isWhole()).as("%s", each.names()).isTrue();
        assertThat(each.names()).doesNotContain("end", "result", "deleted");
        assertThat(each.events("error")).containsExactly(last);
        assertThat(last.id()).isEmpty();
        assertThat(last.data().path("code").asText()).isEqualTo("host_unavailable");
        assertThat(last.data().path("detail").asText()).isEqualTo("the service is stopping");
        assertThat(last.data().path("retry_after").asInt()).isPositive();
      }
      service.restart();

      try (EventStream whole = client.follow(output);
          EventStream rest = client.follow(output, "Last-Event-ID", ofCommand.lastId());
          EventStream told = client.follow(events);
          EventStream more = client.follow(events, "Last-Event-ID", ofEnvironment.lastId())) {
        whole.awaitEnd();
        rest.awaitEnd();
        assertThat(ofCommand.text() + rest.text()).isEqualTo(whole.text());
        assertThat(rest.text()).isNotEmpty();
        client.delete("/v1/environments/" + environment);
        told.awaitEnd();
        more.awaitEnd();
        assertThat(told.events())
            .startsWith(numbered(ofEnvironment).toArray(EventStream.Event[]::new))
            .endsWith(numbered(more).toArray(EventStream.Event[]::new))
            .hasSize(numbered(ofEnvironment).size() + more.events().size());
      }
    }
  }

  private static List<EventStream.Event> numbered(EventStream stream) {
    return stream.events().stream().filter(event -> !event.id().isEmpty()).toList();
  }

  @Test
  void aReaderThatDoesNotReadDelaysNothing() throws Exception {
    String shell = client.shell(client.environment("kept"));
    client.exec(shell, "head -c 20000000 /dev/zero | tr '\\0' x", 60_000).expect(200);
    try (Socket deaf = client.send("/v1/shells/" + shell + "/output/stream")) {
      // It was answered, and more is on its way than any buffer takes.
      assertThat(deaf.getInputStream().read()).isEqualTo('H');

      long began = System.nanoTime();
      service.process().terminate();

      assertThat(service.process().exit(GRACE.plusSeconds(15))).isZero();
      assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(GRACE.plusSeconds(6));
    }
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
          .doesNotContain(shared.directory().toString());
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

  /** Those of an environment in which a command runs, where the host has such. */
  private List<Path> controlGroups(String environment) throws IOException {
    String name = environment.substring("env_".length());
    Path running = Path.of("/proc/" + ProcFsView.with(seconds).getFirst().pid() + "/cgroup");
    List<Path> groups = new ArrayList<>();
    for (String line : Files.readAllLines(running)) {
      String[] fields = line.split(":", 3);
      Path group = Path.of("/sys/fs/cgroup", fields[1], fields[2]).getParent();
      if (group.endsWith(name) && Files.isDirectory(group)) {
        groups.add(group);
      }
    }
    return groups;
  }

  private long sleeps() throws Exception {
    return ProcFsView.with(seconds).stream().filter(p -> p.arguments().startsWith("sleep")).count();
  }
}
