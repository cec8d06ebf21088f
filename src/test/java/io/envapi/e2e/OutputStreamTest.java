package io.envapi.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.envapi.e2e.EventStream.Event;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The output of shells and commands as server-sent events. */
class OutputStreamTest {

  private static final int MIB = 1 << 20;

  @RegisterExtension static final SharedService shared = new SharedService(Map.of());

  private final RunningService service = shared.service();
  private final Client client = shared.client();
  private final String account = shared.account();
  private String environment = "";
  private String shell = "";

  @BeforeEach
  void shell() throws Exception {
    environment = client.environment("streams");
    shell = client.shell(environment);
  }

  private JsonNode run(String command) throws IOException {
    JsonNode result = client.exec(shell, command, 60_000).expect(200);
    assertThat(result.path("state").asText()).as("%s", result).isEqualTo("exited");
    return result;
  }

  private EventStream stream(String parameters, String... headers) throws IOException {
    return client.follow("/v1/shells/" + shell + "/output/stream" + parameters, headers);
  }

  private void close() throws IOException {
    client.delete("/v1/shells/" + shell).expect(200);
  }

  // --- what is told ---

  @Test
  void aShellIsToldFromItsBeginningToItsEnd() throws Exception {
    run("echo one");
    try (EventStream events = stream("?cursor=0")) {
      events.awaitOutput("one\n");
      run("true");
      client.exec(shell, "echo two; exit 4", 30_000).expect(200);
      Event last = events.awaitEnd();

      assertThat(events.names())
          .containsExactly(
              "shell", "command", "output", "command", "command", "command", "command", "output",
              "command", "shell", "end");
      assertThat(events.text()).isEqualTo("one\ntwo\n");
      assertThat(events.commands())
          .containsExactly(
              "1 running", "1 exited", "2 running", "2 exited", "3 running", "3 shell_died");
      assertThat(events.events("shell"))
          .extracting(e -> e.data().path("state").asText())
          .containsExactly("running", "dead");
      assertThat(last.data().path("shell").path("dead_reason").asText()).isEqualTo("exit:4");
    }
  }

  @Test
  void aStreamBeginsInTheMiddle() throws Exception {
    run("printf 0123456789");
    close();
    try (EventStream events = stream("?cursor=4")) {
      events.awaitEnd();
      assertThat(events.text()).isEqualTo("456789");
      assertThat(events.commands()).containsExactly("1 exited");
    }
    try (EventStream events = stream("?cursor=10")) {
      events.awaitEnd();
      assertThat(events.names()).containsExactly("shell", "command", "end");
    }
    try (EventStream events = stream("?cursor=5000")) {
      events.awaitEnd();
      assertThat(events.names()).containsExactly("shell", "end");
    }
  }

  @Test
  void theHeadersKeepProxiesFromBuffering() throws Exception {
    HttpResponse<InputStream> response =
        client.open("GET", "/v1/shells/" + shell + "/output/stream", "");
    try (InputStream _ = response.body()) {
      assertThat(response.headers().firstValue("Cache-Control")).contains("no-cache, no-transform");
      assertThat(response.headers().firstValue("X-Accel-Buffering")).contains("no");
    }
  }

  @Test
  void whatIsWrongIsToldBeforeTheStream() throws Exception {
    String command = run("true").path("id").asText();
    Client stranger = service.as("stranger");
    for (String path :
        List.of(
            "/v1/shells/" + shell + "/output/stream",
            "/v1/commands/" + command + "/output/stream",
            "/v1/environments/" + environment + "/events")) {
      stranger.get(path).refused(404, "not_found");
      client.get(path + "?cursor=x&offset=x").refused(422, "validation_error");
      HttpResponse<InputStream> response =
          client.open("GET", path, "", "Last-Event-ID", "no event");
      try (InputStream _ = response.body()) {
        assertThat(response.statusCode()).isEqualTo(422);
        assertThat(response.headers().firstValue("Content-Type").orElse(""))
            .startsWith("application/problem+json");
      }
    }
    client.get("/v1/shells/sh_000000000000_1/output/stream").refused(404, "not_found");
    client.get("/v1/environments/env_000000000000/events").refused(404, "not_found");
  }

  @Test
  void aSilentCommandIsToldAtOnce() throws Exception {
    String command = run("true").path("id").asText();
    long started = System.nanoTime();
    try (EventStream events = client.follow("/v1/commands/" + command + "/output/stream");
        EventStream exec =
            client.followed("/v1/shells/" + shell + "/exec", Map.of("command", "true"))) {
      assertThat(events.awaitEnd().data().path("command").path("state").asText())
          .isEqualTo("exited");
      assertThat(exec.awaitEnd().name()).isEqualTo("result");
    }
    // A heartbeat would come after 15 s.
    assertThat(Duration.ofNanos(System.nanoTime() - started)).isLessThan(Duration.ofSeconds(10));
  }

  @Test
  void anIdleStreamIsKeptAlive() throws Exception {
    JsonNode sleep = client.exec(shell, "sleep 600", 0).expect(200);
    List<CompletableFuture<String>> comments = new ArrayList<>();
    List<InputStream> bodies = new ArrayList<>();
    for (String path :
        List.of(
            "/v1/shells/" + shell + "/output/stream",
            "/v1/commands/" + sleep.path("id").asText() + "/output/stream",
            "/v1/environments/" + environment + "/events")) {
      InputStream body = client.open("GET", path, "").body();
      bodies.add(body);
      comments.add(CompletableFuture.supplyAsync(() -> firstComment(body)));
    }
    await()
        .atMost(Duration.ofSeconds(40))
        .untilAsserted(() -> assertThat(comments).allMatch(CompletableFuture::isDone));
    assertThat(comments).extracting(CompletableFuture::join).containsOnly(":");
    for (InputStream body : bodies) {
      body.close();
    }
  }

  private static String firstComment(InputStream body) {
    return new BufferedReader(new InputStreamReader(body, StandardCharsets.UTF_8))
        .lines()
        .filter(line -> line.startsWith(":"))
        .findFirst()
        .orElse("none");
  }

  // --- bytes ---

  @Test
  void charactersAreNeverSplit() throws Exception {
    String text = "x" + "€ü😀-".repeat(40_000);
    write("text", text);
    run("cat text");
    close();
    try (EventStream events = stream("");
        EventStream exact = stream("?encoding=base64")) {
      events.awaitEnd();
      exact.awaitEnd();
      assertThat(events.events("output")).hasSizeGreaterThan(3);
      assertThat(events.events("output"))
          .noneMatch(event -> event.data().path("data").asText().contains("\ufffd"));
      assertThat(events.text()).isEqualTo(text);
      assertThat(new String(events.bytes(), StandardCharsets.UTF_8)).isEqualTo(text);
      assertThat(new String(exact.bytes(), StandardCharsets.UTF_8)).isEqualTo(text);
    }
  }

  @Test
  void aCharacterThatComesInPiecesIsToldWhole() throws Exception {
    try (EventStream events = stream("")) {
      client.exec(shell, "printf 'a\\342\\202'; read x; printf '\\254b'", 0).expect(200);
      events.awaitOutput("a");
      client.post("/v1/shells/" + shell + "/stdin", Map.of("data", "\n")).expect(200);
      events.awaitOutput("€b");
      assertThat(events.text()).isEqualTo("a€b");
    }
  }

  @Test
  void anyBytesArriveUnchangedEverywhere() throws Exception {
    JsonNode result = run("head -c 3000000 /dev/urandom | tee random");
    String sum = run("sha256sum random").path("output").asText().substring(0, 64);
    String command = result.path("id").asText();
    try (EventStream events =
        client.follow("/v1/commands/" + command + "/output/stream?encoding=base64")) {
      events.awaitEnd();
      assertThat(sha256(events.bytes())).isEqualTo(sum);
    }
    assertThat(sha256(log(client, command))).isEqualTo(sum);
    assertThat(sha256(pages(MIB - 1000))).as("the rest in memory").isEqualTo(sha256(tail(command)));
  }

  /** What {@code GET /output} has from {@code back} bytes before the end of the first command. */
  private byte[] pages(int back) throws IOException {
    var bytes = new ByteArrayOutputStream();
    long cursor = 3_000_000 - back;
    while (cursor < 3_000_000) {
      JsonNode page =
          client
              .get(
                  "/v1/shells/%s/output?cursor=%d&max_bytes=%d"
                      .formatted(shell, cursor, Math.min(100_000, 3_000_000 - cursor)))
              .expect(200);
      assertThat(page.path("dropped_bytes").asLong()).isZero();
      bytes.writeBytes(Base64.getDecoder().decode(page.path("data_base64").asText()));
      cursor = page.path("next_cursor").asLong();
    }
    return bytes.toByteArray();
  }

  private byte[] tail(String command) throws IOException {
    byte[] all = log(client, command);
    return java.util.Arrays.copyOfRange(all, all.length - (MIB - 1000), all.length);
  }

  /** A command's log, page by page. */
  static byte[] log(Client client, String command) throws IOException {
    var bytes = new ByteArrayOutputStream();
    boolean more = true;
    while (more) {
      JsonNode page = client.get("/v1/commands/" + command + "?offset=" + bytes.size()).expect(200);
      bytes.writeBytes(Base64.getDecoder().decode(page.path("output_base64").asText()));
      more = page.path("output_truncated").asBoolean();
    }
    return bytes.toByteArray();
  }

  @Test
  void lineEndsAreBytesLikeOthers() throws Exception {
    try (EventStream events = stream("")) {
      run("printf '\\n\\n \\r\\n\\rx\\r\\n\\ny'");
      close();
      events.awaitEnd();
      assertThat(events.text()).isEqualTo("\n\n \r\n\rx\r\n\ny");
    }
  }

  @Test
  void aMebibyteInOneWriteArrives() throws Exception {
    try (EventStream events = stream("")) {
      run("head -c 1048576 /dev/zero | tr '\\0' z | dd bs=1M count=1 iflag=fullblock 2>/dev/null");
      close();
      events.awaitEnd();
      assertThat(events.bytes()).hasSize(MIB).containsOnly('z');
    }
  }

  @Test
  void aLineOf20MegabytesArrives() throws Exception {
    try (EventStream live = stream("")) {
      run("head -c 20000000 /dev/zero | tr '\\0' y");
      close();
      live.awaitEnd();
      assertThat(live.bytes()).hasSize(20_000_000).containsOnly('y');
    }
    try (EventStream late = stream("?cursor=19000000")) {
      late.awaitEnd();
      assertThat(late.bytes()).hasSize(1_000_000);
    }
  }

  @Test
  void whatNobodyKeptIsCounted() throws Exception {
    service
        .as(RunningService.OPERATOR)
        .call(
            "PUT",
            "/v1/admin/quotas/" + account,
            Map.of(
                "overrides",
                Map.of("max_command_log_bytes", 100_000, "max_output_buffer_bytes", 50_000)))
        .expect(200);
    shell = client.shell(environment);
    run("head -c 500000 /dev/zero | tr '\\0' q");
    run("echo after");
    close();
    try (EventStream events = stream("?cursor=7")) {
      events.awaitEnd();
      assertThat(events.events("dropped")).hasSize(1);
      JsonNode dropped = events.awaitEvent("dropped").data();
      assertThat(dropped.path("cursor").asLong()).isEqualTo(100_000);
      long kept = 500_006 - dropped.path("next_cursor").asLong();
      assertThat(kept).isEqualTo(50_000);
      assertThat(dropped.path("bytes").asLong()).isEqualTo(500_006 - 50_000 - 100_000);
      assertThat(events.text()).hasSize(100_000 - 7 + 50_000).endsWith("qafter\n");
    }
  }

  // --- many readers ---

  @Test
  void manyReadersGetTheSame() throws Exception {
    List<EventStream> readers = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      readers.add(stream("?encoding=base64"));
    }
    run("seq 1 200000");
    byte[] expected = log(client, run("true").path("id").asText().replaceAll("_2$", "_1"));
    close();
    for (EventStream reader : readers) {
      reader.awaitEnd();
      assertThat(sha256(reader.bytes())).isEqualTo(sha256(expected));
      assertThat(reader.commands())
          .containsExactly("1 running", "1 exited", "2 running", "2 exited");
      reader.close();
    }
  }

  /** The heap of the service is 256 MiB: it cannot keep 20 MB for each of them. */
  @Test
  void readersThatDoNotReadDelayNobody() throws Exception {
    List<HttpResponse<InputStream>> asleep = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      asleep.add(client.open("GET", "/v1/shells/" + shell + "/output/stream", ""));
    }
    try (EventStream awake = stream("")) {
      run("head -c 20000000 /dev/zero | tr '\\0' w; echo end");
      awake.awaitOutput("end\n");
    }
    run("echo next");
    close();
    for (HttpResponse<InputStream> response : asleep) {
      // Not for all of them the bytes: that one gets everything shows it.
      if (response == asleep.getFirst() || response == asleep.getLast()) {
        try (EventStream late = EventStream.of(response)) {
          assertThat(late.awaitEnd().name()).isEqualTo("end");
          assertThat(late.bytes()).hasSize(20_000_009);
          assertThat(late.events("dropped")).isEmpty();
        }
      } else {
        response.body().close();
      }
    }
  }

  // --- going on ---

  @Test
  void aStreamGoesOnAfterAnyOfItsEvents() throws Exception {
    run("true");
    run("echo one");
    run("true");
    run("true");
    run("echo two; (sleep 0.2; echo background) & echo three");
    String command = "cmd" + shell.substring(2) + "_5";
    run("sleep 0.5");
    run("printf 'no newline'");
    close();
    assertGoesOn("/v1/shells/" + shell + "/output/stream", "cursor");
    assertGoesOn("/v1/commands/" + command + "/output/stream", "offset");
  }

  private void assertGoesOn(String path, String parameter) throws IOException {
    List<Event> all = told(client.follow(path));
    assertThat(all).hasSizeGreaterThan(3);
    for (int i = 0; i < all.size(); i++) {
      String id = all.get(i).id();
      if (!id.isEmpty()) {
        List<Event> rest = all.subList(i + 1, all.size());
        assertThat(told(client.follow(path, "Last-Event-ID", id))).as(id).isEqualTo(rest);
        assertThat(told(client.follow(path + "?" + parameter + "=" + id))).as(id).isEqualTo(rest);
      }
    }
  }

  /** All but the state of the shell, which every stream begins with. */
  private static List<Event> told(EventStream stream) throws IOException {
    try (stream) {
      stream.awaitEnd();
      return stream.events().stream().filter(e -> !e.name().equals("shell")).toList();
    }
  }

  @Test
  void whoReadsLiveIsToldTheSameAsWhoReadsLater() throws Exception {
    try (EventStream live = stream("")) {
      for (int i = 0; i < 60; i++) {
        run("(echo a" + i + "; echo b; echo c) & echo d");
      }
      run("wait");
      close();
      live.awaitEnd();
      try (EventStream late = stream("")) {
        late.awaitEnd();
        assertThat(inOrder(live)).isEqualTo(inOrder(late));
      }
      String last = live.events("output").getLast().id();
      assertThat(told(stream("", "Last-Event-ID", last))).isEqualTo(after(live.events(), last));
    }
  }

  private static List<Event> after(List<Event> all, String id) {
    int at = all.stream().map(Event::id).toList().indexOf(id);
    return all.subList(at + 1, all.size()).stream().filter(e -> !e.name().equals("shell")).toList();
  }

  /** Output between commands in one piece, however it arrived. */
  private static List<String> inOrder(EventStream stream) {
    List<String> told = new ArrayList<>();
    var output = new StringBuilder();
    for (Event event : stream.events()) {
      if (event.name().equals("output")) {
        output.append(event.data().path("data").asText());
      } else if (event.name().equals("command")) {
        told.add(output.toString());
        output.setLength(0);
        told.add(event.id() + event.data());
      }
    }
    told.add(output.toString());
    return told;
  }

  // --- commands followed in the answer ---

  @Test
  void aCommandIsFollowedInItsAnswer() throws Exception {
    String path = "/v1/shells/" + shell + "/exec";
    try (EventStream events =
        client.followed(path, Map.of("command", "echo first; read x; echo got $x; (exit 3)"))) {
      events.awaitOutput("first\n");
      client.post("/v1/shells/" + shell + "/stdin", Map.of("data", "it\n")).expect(200);
      Event last = events.awaitEnd();

      assertThat(last.name()).isEqualTo("result");
      assertThat(events.commands()).containsExactly("1 running", "1 exited");
      assertThat(events.text()).isEqualTo("first\ngot it\n");
      assertThat(last.data().path("exit_code").asInt()).isEqualTo(3);
      assertThat(last.data().path("output").asText()).isEqualTo("first\ngot it\n");
      assertThat(last.data().path("shell_state").asText()).isEqualTo("running");
    }
  }

  @Test
  void theResultOfAStreamIsTheOneOfTheAnswer() throws Exception {
    for (String window : List.of("head", "tail")) {
      Map<String, Object> once =
          Map.of(
              "environment_id",
              environment,
              "command",
              "printf 0123456789; exit 5",
              "max_output_bytes",
              4,
              "output_window",
              window);
      JsonNode answer = client.post("/v1/exec", once).expect(200);
      try (EventStream events = client.followed("/v1/exec", once)) {
        Event last = events.awaitEnd();
        assertThat(last.name()).isEqualTo("result");
        assertThat(events.text()).isEqualTo("0123456789");
        assertThat(timeless(last.data())).isEqualTo(timeless(answer));
        assertThat(last.data().path("output").asText())
            .isEqualTo(window.equals("head") ? "0123" : "6789");
        assertThat(last.data().path("shell_state").asText()).isEqualTo("closed");
      }
    }
  }

  private static ObjectNode timeless(JsonNode result) {
    ObjectNode copy = result.deepCopy();
    return copy.remove(List.of("id", "shell_id", "started_at", "finished_at"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          text/event-stream                                   | text/event-stream
          Text/Event-Stream; charset=utf-8                    | text/event-stream
          application/json, text/event-stream                 | text/event-stream
          text/event-stream;q=0                               | application/json
          application/json;q=0.9, text/event-stream;q=0.5     | application/json
          text/*, */*                                         | application/json
          """)
  void eventsAreForWhoNamesThemNoLessThanJson(String accept, String type) throws Exception {
    HttpResponse<InputStream> answer =
        client.open(
            "POST",
            "/v1/shells/" + shell + "/exec",
            Map.of("command", "true", "wait_ms", 60_000),
            "Accept",
            accept);
    try (InputStream body = answer.body()) {
      body.readAllBytes();
    }
    assertThat(answer.headers().firstValue("Content-Type").orElse("")).startsWith(type);
  }

  @Test
  void aReaderThatGoesIsMissedAtOnce() throws Exception {
    try (EventStream events =
        client.followed(
            "/v1/exec", Map.of("environment_id", environment, "command", "echo here; sleep 600"))) {
      events.awaitOutput("here\n");
    }
    // Before anything is written to it again.
    await().atMost(Duration.ofSeconds(10)).until(() -> shellsRunning() == 1);
  }

  @Test
  void whoGoesBeforeTheAnswerLeavesNoShell() throws Exception {
    for (boolean reset : new boolean[] {false, true}) {
      for (int i = 0; i < 5; i++) {
        try (Socket socket =
            client.send(
                "/v1/exec",
                Map.of("environment_id", environment, "command", "sleep 600"),
                "Accept: text/event-stream")) {
          socket.setSoLinger(reset, 0);
        }
      }
    }
    // Each of them was opened: a later shell has a later number.
    await()
        .atMost(Duration.ofSeconds(50))
        .untilAsserted(
            () -> {
              assertThat(shells()).isGreaterThanOrEqualTo(6);
              assertThat(shellsRunning()).isEqualTo(1);
            });
  }

  private int shells() throws IOException {
    return client
        .get("/v1/environments/" + environment + "/shells")
        .expect(200)
        .path("shells")
        .size();
  }

  private int shellsRunning() throws IOException {
    return client.get("/v1/environments/" + environment).expect(200).path("shells_running").asInt();
  }

  private void write(String path, String content) throws IOException {
    client
        .call(
            "PUT",
            "/v1/environments/" + environment + "/files/content",
            Map.of("path", path, "content", content))
        .expect(200);
  }

  static String sha256(byte[] bytes) throws Exception {
    return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
  }
}
