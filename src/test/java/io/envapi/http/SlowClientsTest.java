package io.envapi.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Clients that take their time, on real sockets: they keep a connection, and only for a while. */
class SlowClientsTest {

  private static final int MOST = 20;
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final List<Socket> sockets = new ArrayList<>();
  private RunningFront front;
  private String token;

  @BeforeEach
  void start() throws Exception {
    start(0);
  }

  private void start(int perAddress) throws Exception {
    var load =
        new LoadSettings(
            0,
            0,
            0,
            0,
            MOST,
            perAddress,
            Duration.ofSeconds(2),
            Duration.ofSeconds(1),
            Duration.ofSeconds(2));
    front = RunningFront.start(List.of(), load);
    token = front.token("alice");
  }

  @AfterEach
  void stop() throws IOException {
    for (Socket socket : sockets) {
      socket.close();
    }
    front.close();
  }

  @Test
  void whoSendsAHeadByteByByteIsHungUpOn() throws Exception {
    Socket slow = connect();
    send(slow, "GET /health HTTP/1.1\r\nHost: x\r\nX: ");

    await()
        .atMost(PATIENCE)
        .pollInterval(Duration.ofMillis(100))
        .until(() -> !sends(slow, "x") || isOver(slow));
    assertThat(front.get("/health").statusCode()).isEqualTo(200);
  }

  @Test
  void whoSendsNothingIsHungUpOn() throws Exception {
    Socket silent = connect();
    await().atMost(PATIENCE).until(() -> isOver(silent));
  }

  @Test
  void whoAsksNothingMoreIsHungUpOn() throws Exception {
    Socket idle = connect();
    send(idle, "GET /health HTTP/1.1\r\nHost: x\r\n\r\n");
    assertThat(read(idle)).startsWith("HTTP/1.1 200 ");

    await().atMost(PATIENCE).until(() -> isOver(idle));
  }

  @Test
  void whoNeverEndsABodyIsToldSo() throws Exception {
    Socket slow = connect();
    send(
        slow,
        "POST /v1/echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\nAuthorization: Bearer "
            + token
            + "\r\n\r\n{");

    assertThat(read(slow)).startsWith("HTTP/1.1 408 ");
    await()
        .atMost(PATIENCE)
        .pollInterval(Duration.ofMillis(100))
        .until(() -> !sends(slow, " ") || isOver(slow));
  }

  @Test
  void whoWaitsForAnAnswerIsNotHungUpOn() throws Exception {
    for (String path : List.of("/v1/slow", "/v1/ticks")) {
      Socket patient = connect();
      send(
          patient,
          "GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer %s\r\n\r\n"
              .formatted(path, token));
      patient.setSoTimeout((int) PATIENCE.toMillis());
      String answer =
          new String(patient.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
      assertThat(answer).startsWith("HTTP/1.1 20");
      if (path.equals("/v1/ticks")) {
        assertThat(answer.split(":\\n\\n", -1)).hasSize(21);
        assertThat(answer).endsWith("0\r\n\r\n");
      }
    }
  }

  @Test
  void idleConnectionsGiveWayToNewOnes() throws Exception {
    for (int i = 0; i < 3 * MOST; i++) {
      send(connect(), "GET /hea");
    }

    for (int i = 0; i < 5; i++) {
      assertThat(front.raw("GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"))
          .startsWith("HTTP/1.1 200 ");
    }
    await().atMost(PATIENCE).until(() -> isOver(sockets.getFirst()));
  }

  @Test
  void oneAddressHasOnlySoManyConnections() throws Exception {
    front.close();
    start(3);
    for (int i = 0; i < 3; i++) {
      send(connect(), "GET /health HTTP/1.1\r\nHost: x\r\n\r\n");
      assertThat(read(sockets.getLast())).startsWith("HTTP/1.1 200 ");
    }

    Socket fourth = connect();
    // One that was only idle would have its answer.
    sends(fourth, "GET /health HTTP/1.1\r\nHost: x\r\n\r\n");
    assertThat(isAnswered(fourth)).isFalse();
  }

  private Socket connect() throws IOException {
    Socket socket = front.connect();
    sockets.add(socket);
    return socket;
  }

  private static void send(Socket socket, String text) throws IOException {
    socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
    socket.getOutputStream().flush();
  }

  private static boolean sends(Socket socket, String text) {
    try {
      send(socket, text);
      return true;
    } catch (IOException _) {
      return false;
    }
  }

  /** What comes first. */
  private static String read(Socket socket) throws IOException {
    socket.setSoTimeout((int) PATIENCE.toMillis());
    byte[] bytes = new byte[8192];
    int count = socket.getInputStream().read(bytes);
    return new String(bytes, 0, Math.max(0, count), StandardCharsets.ISO_8859_1);
  }

  private static boolean isAnswered(Socket socket) {
    try {
      return read(socket).startsWith("HTTP/1.1 200 ");
    } catch (IOException _) {
      return false;
    }
  }

  /** Whether the service has ended the connection; what it said before that does not count. */
  private static boolean isOver(Socket socket) throws IOException {
    socket.setSoTimeout(1);
    try {
      byte[] bytes = new byte[8192];
      int count = 0;
      while (count >= 0) {
        count = socket.getInputStream().read(bytes);
      }
      return true;
    } catch (SocketTimeoutException _) {
      return false;
    } catch (IOException _) {
      return true;
    }
  }
}
