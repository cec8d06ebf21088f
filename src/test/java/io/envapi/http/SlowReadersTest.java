package io.envapi.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Clients that ask for much and take it slowly, or not at all, on real sockets. */
class SlowReadersTest {

  private static final int MOST = 20;
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int SIP = 64 * 1024;

  private final List<Socket> sockets = new ArrayList<>();
  private RunningFront front;
  private String token;

  private void start(Duration keepAlive) throws Exception {
    var load = new LoadSettings(0, 0, 0, 0, MOST, 0, Duration.ofSeconds(30), keepAlive, keepAlive);
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

  /** For several times as long as a connection may be idle. */
  @Test
  void whoReadsSlowlyGetsAllOfIt() throws Exception {
    start(Duration.ofSeconds(2));
    Socket slow = ask("/v1/large");
    var read = new long[1];
    long began = System.nanoTime();

    await()
        .atMost(PATIENCE)
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(80))
        .until(
            () -> {
              int sip = slow.getInputStream().readNBytes(SIP).length;
              read[0] += sip;
              return sip < SIP || read[0] > RunningFront.LARGE;
            });

    assertThat(read[0]).isGreaterThan(RunningFront.LARGE);
    assertThat(Duration.ofNanos(System.nanoTime() - began)).isGreaterThan(Duration.ofSeconds(7));
    await().atMost(PATIENCE).until(() -> front.connections() == 0);
  }

  @Test
  void whoStopsReadingIsDropped() throws Exception {
    start(Duration.ofSeconds(2));
    Socket stopped = ask("/v1/large");
    assertThat(stopped.getInputStream().readNBytes(SIP)).hasSize(SIP);

    await().atMost(PATIENCE).until(() -> front.connections() == 0);

    assertThat(rest(stopped)).isLessThan(RunningFront.LARGE - SIP);
  }

  @Test
  void whatNobodyReadsIsNoLongerMade() throws Exception {
    start(Duration.ofSeconds(2));
    Socket stopped = ask("/v1/endless");
    assertThat(stopped.getInputStream().readNBytes(SIP)).hasSize(SIP);

    assertThat(front.endlessEnded()).succeedsWithin(PATIENCE);
    await().atMost(PATIENCE).until(() -> front.connections() == 0);
  }

  /** Long before they would be dropped. */
  @Test
  void whoDoesNotReadGivesWayToOthers() throws Exception {
    start(Duration.ofMinutes(5));
    for (int i = 0; i < MOST; i++) {
      assertThat(ask("/v1/large").getInputStream().readNBytes(100)).hasSize(100);
    }

    await()
        .atMost(PATIENCE)
        .ignoreExceptions()
        .until(
            () ->
                front
                    .raw("GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                    .startsWith("HTTP/1.1 200 "));
  }

  private Socket ask(String path) throws IOException {
    var socket = new Socket();
    sockets.add(socket);
    socket.setReceiveBufferSize(16 * 1024);
    socket.setSoTimeout((int) PATIENCE.toMillis());
    socket.connect(front.address());
    socket
        .getOutputStream()
        .write(
            "GET %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n"
                .formatted(path, token)
                .getBytes(StandardCharsets.ISO_8859_1));
    return socket;
  }

  /** How much still comes. */
  private static long rest(Socket socket) {
    long rest = 0;
    try {
      InputStream in = socket.getInputStream();
      int count = 0;
      var bytes = new byte[SIP];
      while ((count = in.read(bytes)) >= 0) {
        rest += count;
      }
    } catch (IOException _) {
      // Reset: what was not read by then is gone.
    }
    return rest;
  }
}
