package io.envapi.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.envapi.e2e.EventStream.Event;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Kills the service at random moments while streams are read, and goes on with them after the
 * restart: nothing is missing, nothing comes twice, and the end is the truth.
 *
 * <p>{@code -Denvapi.crash.rounds=20} for the long run, {@code -Denvapi.crash.seed=} to draw the
 * same moments.
 */
class StreamCrashTest {

  private static final int ROUNDS = Integer.getInteger("envapi.crash.rounds", 5);
  private static final long SEED = Long.getLong("envapi.crash.seed", System.nanoTime());

  /** Lines that tell their place, in small and in larger writes. */
  private static final String NUMBERS =
      "i=0; while :; do echo \"line $i\"; i=$((i+1)); [ $((i % 500)) = 0 ] && seq -s ' ' $i; done";

  private final Random random = new Random(SEED);

  @TempDir Path directory;

  @Test
  void streamsGoOnAfterTheServiceWasKilled() throws Exception {
    try (RunningService service = RunningService.start(directory, Map.of())) {
      Client client = service.as("streams");
      String environment = client.environment("streams");
      String eventsPath = "/v1/environments/" + environment + "/events";
      List<Event> happened = new ArrayList<>();
      for (int round = 1; round <= ROUNDS; round++) {
        String about = "round %d of seed %d".formatted(round, SEED);
        String shell = client.shell(environment);
        String path = "/v1/shells/" + shell + "/output/stream?encoding=base64";
        client.exec(shell, "echo before", 30_000).expect(200);
        EventStream output = client.follow(path);
        EventStream events = follow(client, eventsPath, happened);
        String command = client.exec(shell, NUMBERS, 0).expect(200).path("id").asText();
        long enough = random.nextInt(400_000);
        await()
            .atMost(Duration.ofMinutes(1))
            .pollInterval(Duration.ofMillis(1))
            .until(() -> received(output) > enough);
        service.kill();
        output.awaitEnd();
        events.awaitSilence();
        happened.addAll(events.events());
        service.restart();
        List<Event> all = new ArrayList<>(output.events());
        try (EventStream rest = client.follow(path, "Last-Event-ID", output.lastId())) {
          Event last = rest.awaitEnd();
          assertThat(last.name()).as(about).isEqualTo("end");
          JsonNode dead = last.data().path("shell");
          assertThat(dead.path("state").asText()).as(about).isEqualTo("dead");
          assertThat(dead.path("dead_reason").asText()).as(about).isEqualTo("service_restarted");
          all.addAll(rest.events());
        }
        assertOnce(client, command, all, about);
      }
      try (EventStream rest = follow(client, eventsPath, happened)) {
        client.delete("/v1/environments/" + environment).expect(204);
        rest.awaitEnd();
        happened.addAll(rest.events());
      }
      assertHappened(happened);
    }
  }

  private static EventStream follow(Client client, String path, List<Event> before)
      throws Exception {
    return before.isEmpty()
        ? client.follow(path)
        : client.follow(path, "Last-Event-ID", before.getLast().id());
  }

  private static long received(EventStream stream) {
    List<Event> output = stream.events("output");
    return output.isEmpty() ? 0 : output.getLast().data().path("next_cursor").asLong();
  }

  /** What was read before the kill and after it, against the log. */
  private static void assertOnce(Client client, String command, List<Event> all, String about)
      throws Exception {
    var bytes = new ByteArrayOutputStream();
    bytes.writeBytes("before\n".getBytes(StandardCharsets.UTF_8));
    bytes.writeBytes(OutputStreamTest.log(client, command));
    var told = new ByteArrayOutputStream();
    List<String> commands = new ArrayList<>();
    for (Event event : all) {
      switch (event.name()) {
        case "output" -> {
          assertThat(event.data().path("cursor").asLong()).as(about).isEqualTo(told.size());
          told.writeBytes(event.bytes());
        }
        case "command" -> {
          String id = event.data().path("id").asText();
          commands.add(
              id.substring(id.lastIndexOf('_') + 1)
                  + " "
                  + event.data().path("state").asText()
                  + " "
                  + event.data().path("reason").asText());
        }
        case "shell", "end" -> {}
        default -> throw new AssertionError(about + ": " + event);
      }
    }
    assertThat(OutputStreamTest.sha256(told.toByteArray()))
        .as("%s: %d bytes told, %d in the log", about, told.size(), bytes.size())
        .isEqualTo(OutputStreamTest.sha256(bytes.toByteArray()));
    assertThat(commands)
        .as(about)
        .containsExactly(
            "1 running null",
            "1 exited exited",
            "2 running null",
            "2 shell_died service_restarted");
  }

  private static void assertHappened(List<Event> happened) {
    for (int i = 0; i < happened.size(); i++) {
      assertThat(happened.get(i).data().path("seq").asInt()).isEqualTo(i + 1);
    }
    List<String> names = happened.stream().map(Event::name).toList();
    assertThat(names).startsWith("created", "shell_opened").endsWith("deleted");
    for (String each : List.of("reconciled", "shell_died")) {
      assertThat(names.stream().filter(each::equals)).as(each).hasSize(ROUNDS);
    }
    for (String each : List.of("command_started", "command_finished")) {
      assertThat(names.stream().filter(each::equals)).as(each).hasSize(2 * ROUNDS);
    }
  }
}
