package io.envapi.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.envapi.e2e.EventStream.Event;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What happens to an environment as server-sent events. */
class EnvironmentEventsTest {

  @RegisterExtension
  static final SharedService shared =
      new SharedService(Map.of("ENVAPI_REAPER_INTERVAL_SECONDS", "1"));

  private final RunningService service = shared.service();
  private final Client client = shared.client();
  private final String account = shared.account();
  private String environment = "";
  private String path = "";

  @BeforeEach
  void environment() throws Exception {
    environment = client.environment("told");
    path = "/v1/environments/" + environment + "/events";
  }

  private static void assertNumbered(EventStream events, long from) {
    List<Event> all = events.events();
    assertThat(all)
        .extracting(e -> e.data().path("seq").asLong())
        .containsExactlyElementsOf(LongStream.range(from, from + all.size()).boxed().toList());
    assertThat(all).allMatch(e -> e.id().equals(e.data().path("seq").asText()));
    assertThat(all).allMatch(e -> e.name().equals(e.data().path("type").asText()));
  }

  @Test
  void theWholeLifeIsTold() throws Exception {
    String closed = client.shell(environment);
    JsonNode ran = client.exec(closed, "echo hi; (exit 3)", 30_000).expect(200);
    try (EventStream events = client.follow(path)) {
      events.awaitEvent("command_finished");
      client.delete("/v1/shells/" + closed).expect(200);
      events.awaitEvent("shell_closed");
      String died = client.shell(environment);
      client.exec(died, "exit 7", 30_000).expect(200);
      events.awaitEvent("shell_died");
      client.call("POST", "/v1/environments/" + environment + "/reset", "").expect(200);
      events.awaitEvent("reset");
      client.delete("/v1/environments/" + environment).expect(204);
      events.awaitEnd();

      assertThat(events.names())
          .containsExactly(
              "created",
              "shell_opened",
              "command_started",
              "command_finished",
              "shell_closed",
              "shell_opened",
              "command_started",
              "command_finished",
              "shell_died",
              "emptying",
              "reset",
              "deleted");
      assertNumbered(events, 1);
      List<Event> all = events.events();
      assertThat(all)
          .allMatch(e -> e.data().path("environment_id").asText().equals(environment))
          .allMatch(e -> e.data().path("at").asDouble() > 1_700_000_000);
      assertThat(all.get(0).data().path("name").asText()).isEqualTo("told");
      JsonNode finished = all.get(3).data();
      assertThat(finished.path("command_id").asText()).isEqualTo(ran.path("id").asText());
      assertThat(finished.path("shell_id").asText()).isEqualTo(closed);
      assertThat(finished.path("exit_code").asInt()).isEqualTo(3);
      assertThat(all.get(2).data().path("command").asText()).isEqualTo("echo hi; (exit 3)");
      assertThat(all.get(8).data().path("dead_reason").asText()).isEqualTo("exit:7");
    }
    client.get(path).refused(404, "not_found");
  }

  @Test
  void aDeleteTellsTheEndsOfWhatRan() throws Exception {
    String shell = client.shell(environment);
    String command = client.exec(shell, "sleep 600", 0).expect(200).path("id").asText();
    try (EventStream events = client.follow(path)) {
      events.awaitEvent("command_started");
      client.delete("/v1/environments/" + environment).expect(204);
      events.awaitEnd();

      assertThat(events.names())
          .containsExactly(
              "created",
              "shell_opened",
              "command_started",
              "emptying",
              "command_finished",
              "shell_closed",
              "deleted");
      assertNumbered(events, 1);
      Event finished = events.events().get(4);
      assertThat(is(finished, command)).isTrue();
      assertThat(finished.data().path("reason").asText()).isEqualTo("shell_closed");
    }
  }

  @Test
  void aStreamGoesOnAfterAnyOfItsEvents() throws Exception {
    String shell = client.shell(environment);
    for (int i = 0; i < 5; i++) {
      client.exec(shell, "true", 30_000).expect(200);
    }
    client.delete("/v1/shells/" + shell).expect(200);
    try (EventStream whole = client.follow(path)) {
      whole.awaitEvent("shell_closed");
      List<Event> all = whole.events();
      assertThat(all).hasSize(13);
      List<EventStream> rest = new ArrayList<>();
      for (Event event : all) {
        rest.add(client.follow(path, "Last-Event-ID", event.id()));
        rest.add(client.follow(path + "?cursor=" + event.id()));
      }
      client.delete("/v1/environments/" + environment).expect(204);
      whole.awaitEnd();
      List<Event> ended = whole.events();
      assertThat(ended.getLast().name()).isEqualTo("deleted");
      for (int i = 0; i < rest.size(); i++) {
        try (EventStream each = rest.get(i)) {
          each.awaitEnd();
          assertThat(each.events()).isEqualTo(ended.subList(i / 2 + 1, ended.size()));
        }
      }
    }
  }

  @Test
  void aReaderThatDoesNotReadGetsEverythingLater() throws Exception {
    HttpResponse<InputStream> asleep = client.open("GET", path, "");
    String shell = client.shell(environment);
    for (int i = 0; i < 300; i++) {
      client.exec(shell, ": " + "x".repeat(500), 30_000).expect(200);
    }
    try (EventStream late = EventStream.of(asleep)) {
      late.awaitEvent(e -> e.data().path("seq").asInt() == 602);
      client.delete("/v1/environments/" + environment).expect(204);
      assertThat(late.awaitEnd().name()).isEqualTo("deleted");
      assertNumbered(late, 1);
      assertThat(late.events("command_finished")).hasSize(300);
    }
  }

  @Test
  void aLongCommandIsCut() throws Exception {
    String shell = client.shell(environment);
    client.exec(shell, ": " + "ä".repeat(2000), 30_000).expect(200);
    try (EventStream events = client.follow(path)) {
      JsonNode started = events.awaitEvent("command_started").data();
      assertThat(started.path("command").asText()).hasSize(512).startsWith(": ää");
      assertThat(started.path("command_truncated").asBoolean()).isTrue();
    }
  }

  @Test
  void anIdleEnvironmentIsToldAsArchived() throws Exception {
    service
        .as(RunningService.OPERATOR)
        .call(
            "PUT",
            "/v1/admin/quotas/" + account,
            Map.of("overrides", Map.of("environment_idle_ttl_seconds", 0.5)))
        .expect(200);
    try (EventStream events = client.follow(path)) {
      events.awaitEvent("archived");
      assertThat(events.names()).containsExactly("created", "emptying", "archived");
    }
  }

  @Test
  void aRestartIsTold() throws Exception {
    String shell = client.shell(environment);
    client.exec(shell, "true", 30_000).expect(200);
    String command = client.exec(shell, "sleep 600", 0).expect(200).path("id").asText();
    String last;
    try (EventStream events = client.follow(path)) {
      events.awaitEvent(e -> e.name().equals("command_started") && is(e, command));
      service.kill();
      events.awaitEnd();
      last = events.lastId();
      assertThat(events.events()).hasSize(5);
    }
    service.restart();
    try (EventStream events = client.follow(path, "Last-Event-ID", last)) {
      events.awaitEvent("shell_died");
      assertThat(events.names()).containsExactly("reconciled", "command_finished", "shell_died");
      assertNumbered(events, 6);
      List<Event> all = events.events();
      assertThat(all.get(0).data().path("shells").get(0).asText()).isEqualTo(shell);
      assertThat(is(all.get(1), command)).isTrue();
      assertThat(all.get(1).data().path("state").asText()).isEqualTo("shell_died");
      assertThat(all.get(1).data().path("reason").asText()).isEqualTo("service_restarted");
      assertThat(all.get(2).data().path("dead_reason").asText()).isEqualTo("service_restarted");
    }
  }

  @Test
  void aServiceThatIsStoppedDoesNotWaitForReaders() throws Exception {
    String shell = client.shell(environment);
    client.exec(shell, "echo before; sleep 600", 0).expect(200);
    String outputPath = "/v1/shells/" + shell + "/output/stream";
    List<Event> told;
    List<Event> printed;
    try (EventStream events = client.follow(path);
        EventStream output = client.follow(outputPath)) {
      events.awaitEvent("command_started");
      output.awaitOutput("before\n");
      service.process().terminate();
      assertThat(service.process().exit(Duration.ofSeconds(30))).isZero();
      events.awaitSilence();
      output.awaitSilence();
      told = withIds(events);
      printed = withIds(output);
    }
    service.restart();
    try (EventStream events = client.follow(path, "Last-Event-ID", told.getLast().id());
        EventStream output = client.follow(outputPath, "Last-Event-ID", printed.getLast().id())) {
      output.awaitEnd();
      printed.addAll(withIds(output));
      client.delete("/v1/environments/" + environment).expect(204);
      events.awaitEnd();
      told.addAll(events.events());
    }
    // Its shells were ended and their ends stored before it stopped: nothing was left to reconcile.
    assertThat(told)
        .extracting(Event::name)
        .containsExactly(
            "created",
            "shell_opened",
            "command_started",
            "command_finished",
            "shell_died",
            "deleted");
    assertThat(printed).extracting(Event::name).containsExactly("command", "output", "command");
  }

  /** Those after which a reader goes on. */
  private static List<Event> withIds(EventStream stream) {
    return new ArrayList<>(stream.events().stream().filter(e -> !e.id().isEmpty()).toList());
  }

  private static boolean is(Event event, String command) {
    return event.data().path("command_id").asText().equals(command);
  }

  @Test
  void manyReadersFollowLive() throws IOException {
    List<EventStream> readers = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      readers.add(client.follow(path));
    }
    String shell = client.shell(environment);
    for (int i = 0; i < 50; i++) {
      client.exec(shell, "true", 30_000).expect(200);
    }
    client.delete("/v1/environments/" + environment).expect(204);
    for (EventStream reader : readers) {
      reader.awaitEnd();
      assertThat(reader.events()).hasSize(105);
      assertNumbered(reader, 1);
      reader.close();
    }
  }
}
