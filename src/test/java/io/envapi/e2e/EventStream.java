package io.envapi.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Predicate;

/** A reader of server-sent events over a connection of its own. */
final class EventStream implements AutoCloseable {

  static final Duration LONGEST = Duration.ofSeconds(60);

  /**
   * @param id empty where the event has none
   */
  record Event(String id, String name, JsonNode data) {

    /** The bytes of an {@code output} event. */
    byte[] bytes() {
      String text = data.path("data").textValue();
      return data.path("encoding").textValue().equals("base64")
          ? Base64.getDecoder().decode(text)
          : text.getBytes(StandardCharsets.UTF_8);
    }
  }

  private final InputStream body;
  private final List<Event> events = new CopyOnWriteArrayList<>();
  private volatile boolean ended;
  private volatile boolean whole;
  private final Thread reader;

  private EventStream(InputStream body, Consumer<Event> received) {
    this.body = body;
    this.reader = Thread.ofVirtual().start(() -> read(received));
  }

  static EventStream of(HttpResponse<InputStream> response) {
    return of(response, _ -> {});
  }

  /**
   * @param received told of each event, on the thread that reads
   */
  static EventStream of(HttpResponse<InputStream> response, Consumer<Event> received) {
    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(response.headers().firstValue("Content-Type").orElse(""))
        .startsWith("text/event-stream");
    return new EventStream(response.body(), received);
  }

  private void read(Consumer<Event> received) {
    try (var lines = new BufferedReader(new InputStreamReader(body, StandardCharsets.UTF_8))) {
      String id = "";
      String name = "message";
      Optional<String> data = Optional.empty();
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (line.startsWith("id: ")) {
          id = line.substring(4);
        } else if (line.startsWith("event: ")) {
          name = line.substring(7);
        } else if (line.startsWith("data: ")) {
          data = Optional.of(line.substring(6));
        } else if (line.isEmpty() && data.isPresent()) {
          var event = new Event(id, name, Client.JSON.readTree(data.get()));
          received.accept(event);
          events.add(event);
          id = "";
          name = "message";
          data = Optional.empty();
        }
      }
      whole = true;
    } catch (IOException | UncheckedIOException e) {
      // The service was killed, or this side closed the stream: what came until then counts.
    } finally {
      ended = true;
    }
  }

  /** Whether the service ended it, rather than the connection broke. */
  boolean isWhole() {
    return whole;
  }

  List<Event> events() {
    return List.copyOf(events);
  }

  List<Event> events(String name) {
    return events.stream().filter(event -> event.name().equals(name)).toList();
  }

  List<String> names() {
    return events.stream().map(Event::name).toList();
  }

  /** The id a browser would send to go on. */
  String lastId() {
    return events.stream().map(Event::id).filter(id -> !id.isEmpty()).toList().getLast();
  }

  Event awaitEvent(Predicate<Event> wanted) {
    await()
        .atMost(LONGEST)
        .untilAsserted(() -> assertThat(events).as("%s", names()).anyMatch(wanted));
    return events.stream().filter(wanted).findFirst().orElseThrow();
  }

  Event awaitEvent(String name) {
    return awaitEvent(event -> event.name().equals(name));
  }

  void awaitOutput(String text) {
    await().atMost(LONGEST).untilAsserted(() -> assertThat(text()).contains(text));
  }

  /** Waits for the end of the stream; its last event. */
  Event awaitEnd() {
    awaitSilence();
    return events.getLast();
  }

  /** Waits for the end of a stream that may have told nothing. */
  void awaitSilence() {
    await()
        .atMost(Duration.ofMinutes(3))
        .untilAsserted(() -> assertThat(ended).as("%d events", events.size()).isTrue());
  }

  /** All output, whose events have to follow each other without a gap. */
  byte[] bytes() {
    var bytes = new ByteArrayOutputStream();
    long next = -1;
    for (Event event : events("output")) {
      if (next >= 0) {
        assertThat(event.data().path("cursor").asLong()).isEqualTo(next);
      }
      next = event.data().path("next_cursor").asLong();
      assertThat(event.id()).isEqualTo(Long.toString(next));
      bytes.writeBytes(event.bytes());
    }
    return bytes.toByteArray();
  }

  String text() {
    var text = new StringBuilder();
    for (Event event : events("output")) {
      text.append(event.data().path("data").asText());
    }
    return text.toString();
  }

  /** What was told of commands: {@code <number> <state>} each. */
  List<String> commands() {
    List<String> told = new ArrayList<>();
    for (Event event : events("command")) {
      String id = event.data().path("id").asText();
      told.add(id.substring(id.lastIndexOf('_') + 1) + " " + event.data().path("state").asText());
    }
    return told;
  }

  @Override
  public void close() throws IOException {
    body.close();
    try {
      reader.join(LONGEST);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
