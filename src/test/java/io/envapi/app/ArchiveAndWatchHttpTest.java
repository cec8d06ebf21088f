package io.envapi.app;

import static java.net.http.HttpRequest.BodyPublishers.noBody;
import static java.net.http.HttpRequest.BodyPublishers.ofByteArray;
import static java.net.http.HttpRequest.BodyPublishers.ofString;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.InputStream;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** Archives and watches through the whole service. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ArchiveAndWatchHttpTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir static Path temp;
  private RunningApi api;

  @BeforeAll
  void start() throws Exception {
    api = RunningApi.start(temp, Map.of("ENVAPI_OPERATOR_ACCOUNTS", "operator"));
  }

  @AfterAll
  void stop() throws Exception {
    api.close();
  }

  @Test
  void aTreeGoesOutAndComesIn() throws Exception {
    String files = api.environment() + "/files";
    api.send(api.request(files + "/raw?path=src/a").PUT(ofString("one")));
    for (String format : List.of("tar.gz", "zip")) {
      var archive =
          api.client.send(
              api.request(files + "/archive?path=src&format=" + format).build(),
              HttpResponse.BodyHandlers.ofByteArray());
      assertThat(archive.statusCode()).isEqualTo(200);
      assertThat(archive.headers().firstValue("Content-Disposition"))
          .contains("attachment; filename=\"src." + format + '"');
      var unpacked =
          api.send(
              api.request(files + "/archive?path=to/" + format + "&format=" + format)
                  .PUT(ofByteArray(archive.body())));
      assertThat(unpacked.statusCode()).isEqualTo(200);
      assertThat(RunningApi.json(unpacked).path("bytes").asInt()).isEqualTo(3);
      assertThat(api.send(api.request(files + "/raw?path=to/" + format + "/a")).body())
          .isEqualTo("one");
    }
    byte[] corrupt =
        api.client
            .send(
                api.request(files + "/archive?path=src").build(),
                HttpResponse.BodyHandlers.ofByteArray())
            .body();
    corrupt[corrupt.length - 8] ^= 1;
    assertThat(
            api.send(api.request(files + "/archive?path=c").PUT(ofByteArray(corrupt))).statusCode())
        .isEqualTo(422);
    assertThat(api.send(api.request(files + "/raw?path=c/a")).statusCode()).isEqualTo(404);
    var bad = api.send(api.request(files + "/archive?path=src").PUT(ofString("nonsense")));
    assertThat(bad.statusCode()).isEqualTo(422);
    assertThat(api.send(api.request(files + "/archive?path=no")).statusCode()).isEqualTo(404);
    assertThat(api.send(api.request(files + "/archive?format=rar")).statusCode()).isEqualTo(422);
    assertThat(api.send(api.request(files + "/archive?path=src/a").PUT(ofString("x"))).statusCode())
        .isEqualTo(409);
  }

  /** The lines of a stream of events as they come. */
  private final class Events implements AutoCloseable {
    private final List<String> lines = new CopyOnWriteArrayList<>();
    private final InputStream body;
    private final Thread reading;

    Events(HttpRequest.Builder request) throws Exception {
      var response = api.client.send(request.build(), HttpResponse.BodyHandlers.ofInputStream());
      assertThat(response.statusCode()).isEqualTo(200);
      body = response.body();
      reading = Thread.ofVirtual().start(this::read);
    }

    private void read() {
      try (var reader =
          new java.io.BufferedReader(new java.io.InputStreamReader(body, StandardCharsets.UTF_8))) {
        reader.lines().forEach(lines::add);
      } catch (java.io.IOException | java.io.UncheckedIOException e) {
        lines.add("ended");
      }
    }

    void await(String data) {
      org.awaitility.Awaitility.await()
          .atMost(Duration.ofSeconds(10))
          .untilAsserted(() -> assertThat(lines).contains("data: " + data));
    }

    /** The problem in the last event, once the stream has ended. */
    JsonNode error() throws Exception {
      assertThat(reading.join(Duration.ofSeconds(10))).isTrue();
      assertThat(lines).filteredOn(line -> line.equals("event: error")).hasSize(1);
      String data = lines.stream().filter(line -> line.startsWith("data: ")).toList().getLast();
      return JSON.readTree(data.substring("data: ".length()));
    }

    String lastId() {
      return lines.stream().filter(l -> l.startsWith("id: ")).toList().getLast().substring(4);
    }

    @Override
    public void close() throws java.io.IOException {
      body.close();
    }
  }

  @Test
  void whatHappensIsTold() throws Exception {
    String environment = api.environment();
    Path workspace = api.workspace(environment);
    String target = environment + "/files/watch";
    Files.createDirectory(workspace.resolve("d"));
    String last;
    try (var events = new Events(api.request(target))) {
      Files.writeString(workspace.resolve("d/f"), "x");
      events.await("{\"kind\":\"created\",\"path\":\"d/f\"}");
      events.await("{\"kind\":\"modified\",\"path\":\"d/f\"}");
      Files.move(workspace.resolve("d/f"), workspace.resolve("g"));
      events.await("{\"kind\":\"moved\",\"path\":\"g\",\"from\":\"d/f\"}");
      Files.delete(workspace.resolve("g"));
      events.await("{\"kind\":\"deleted\",\"path\":\"g\"}");
      Files.createDirectories(workspace.resolve("new/below"));
      events.await("{\"kind\":\"created\",\"path\":\"new/below\"}");
      Files.writeString(workspace.resolve("new/below/f"), "x");
      events.await("{\"kind\":\"created\",\"path\":\"new/below/f\"}");
      api.send(api.request(environment + "/files/raw?path=by-api").PUT(ofString("x")));
      events.await("{\"kind\":\"created\",\"path\":\"by-api\"}");
      assertThat(String.join("\n", events.lines)).doesNotContain(".tmp", "overflow");
      last = events.lastId();
    }
    Files.writeString(workspace.resolve("meanwhile"), "x");
    try (var events = new Events(api.request(target).header("Last-Event-ID", last))) {
      events.await("{\"kind\":\"created\",\"path\":\"meanwhile\"}");
      assertThat(String.join("\n", events.lines)).doesNotContain("by-api", "overflow");
    }
    String unknown = "0".repeat(24) + "-5";
    try (var events = new Events(api.request(target).header("Last-Event-ID", unknown))) {
      events.await("{\"kind\":\"overflow\",\"path\":\".\"}");
    }
  }

  @Test
  void aWatchEndsWithItsDirectory() throws Exception {
    String environment = api.environment();
    Path workspace = api.workspace(environment);
    String target = environment + "/files/watch?path=d";
    Files.createDirectory(workspace.resolve("d"));
    String last;
    try (var events = new Events(api.request(target))) {
      Files.delete(workspace.resolve("d"));
      assertThat(events.error().path("code").asText()).isEqualTo("not_found");
      assertThat(events.lines).contains("data: {\"kind\":\"deleted\",\"path\":\"d\"}");
      last = events.lastId();
    }
    assertThat(api.send(api.request(target).header("Last-Event-ID", last)).statusCode())
        .isEqualTo(404);
    Files.createDirectory(workspace.resolve("d"));
    try (var events = new Events(api.request(target).header("Last-Event-ID", last))) {
      events.await("{\"kind\":\"overflow\",\"path\":\".\"}");
      Files.createFile(workspace.resolve("d/x"));
      events.await("{\"kind\":\"created\",\"path\":\"d/x\"}");
    }
  }

  @Test
  void anIdThatWasNeverGivenGoesOnFromNow() throws Exception {
    String environment = api.environment();
    Path workspace = api.workspace(environment);
    String target = environment + "/files/watch";
    String never;
    try (var events = new Events(api.request(target))) {
      Files.createFile(workspace.resolve("f"));
      events.await("{\"kind\":\"created\",\"path\":\"f\"}");
      never = events.lastId().replaceFirst("-.*", "-99999");
    }
    try (var events = new Events(api.request(target).header("Last-Event-ID", never))) {
      events.await("{\"kind\":\"overflow\",\"path\":\".\"}");
      Files.createFile(workspace.resolve("g"));
      events.await("{\"kind\":\"created\",\"path\":\"g\"}");
    }
  }

  @Test
  void aWatchThatCannotGoOnSaysSo() throws Exception {
    String environment = api.environment();
    HttpRequest.Builder watch = api.request(environment + "/files/watch");
    try (var events = new Events(watch)) {
      api.send(api.request(environment + "/reset").POST(noBody()));
      assertThat(events.error().path("code").asText()).isEqualTo("conflict");
    }
    try (var events = new Events(watch)) {
      api.call("operator", "POST", environment.replace("/v1/", "/v1/admin/") + "/archive", "");
      assertThat(events.error().path("code").asText()).isEqualTo("environment_archived");
    }
    api.send(api.request(environment + "/reset").POST(noBody()));
    try (var events = new Events(watch)) {
      api.send(api.request(environment).DELETE());
      JsonNode problem = events.error();
      assertThat(problem.path("code").asText()).isEqualTo("not_found");
      assertThat(problem.path("instance").asText()).endsWith("/files/watch");
    }
  }

  @Test
  void watchesAreBounded() throws Exception {
    String environment = api.environment();
    String target = environment + "/files/watch";
    Path workspace = api.workspace(environment);
    assertThat(api.send(api.request(target + "?path=missing")).statusCode()).isEqualTo(404);
    assertThat(api.send(api.request(target + "?depth=11")).statusCode()).isEqualTo(422);
    assertThat(api.send(api.request(target).method("HEAD", noBody())).statusCode()).isEqualTo(200);
    var open = new java.util.ArrayList<Events>();
    for (int i = 0; i < 8; i++) {
      open.add(new Events(api.request(target)));
    }
    assertThat(api.send(api.request(target)).statusCode()).isEqualTo(409);
    for (Events each : open) {
      each.close();
    }
    // An environment that is deleted takes its watches with it.
    assertThat(api.send(api.request(environment).DELETE()).statusCode()).isLessThan(300);
    await().until(() -> Files.notExists(workspace));
    for (Events each : open) {
      assertThat(each.lines).noneMatch(line -> line.startsWith("event: overflow"));
    }
  }
}
