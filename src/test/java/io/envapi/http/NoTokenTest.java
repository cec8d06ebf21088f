package io.envapi.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.envapi.app.RunningApi;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * Every guarded route, asked without a token in the ways in which others' gates were walked around:
 * another method, a method in a header, an upgrade, a path that is spelled differently.
 */
class NoTokenTest {

  private static final List<String> METHODS =
      List.of("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "X-ANY");

  private static final List<String> HEADERS =
      List.of(
          "X-HTTP-Method-Override: GET\r\n",
          "X-HTTP-Method: OPTIONS\r\nX-Method-Override: OPTIONS\r\n",
          "X-Original-URL: /health\r\nX-Rewrite-URL: /health\r\n",
          "X-Forwarded-For: 127.0.0.1\r\nX-Forwarded-User: alice\r\nX-Real-IP: 127.0.0.1\r\n",
          "Accept: text/event-stream\r\nLast-Event-ID: 0\r\n",
          "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
              + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
          "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n",
          "Authorization: \r\n",
          "Authorization: Bearer null\r\n",
          "Authorization: Negotiate YII=\r\n",
          "Idempotency-Key: a\r\n");

  @TempDir static Path root;

  private static RunningApi api;

  @BeforeAll
  static void start() throws Exception {
    api = RunningApi.start(root, Map.of("ENVAPI_MAX_REFUSED_PER_SECOND", "0"));
  }

  @AfterAll
  static void stop() throws Exception {
    api.close();
  }

  @TestFactory
  Stream<DynamicTest> noWayLeadsAroundTheGate() {
    return api.api.entries().stream()
        .filter(entry -> !(entry.endpoint() instanceof RouteTable.Open))
        .map(
            entry ->
                DynamicTest.dynamicTest(
                    entry.method() + " " + entry.template(),
                    () -> {
                      String path = path(entry.template());
                      for (String headers : HEADERS) {
                        assertThat(ask(entry.method(), path, headers)).as(headers).isEqualTo(401);
                      }
                      for (String method : METHODS) {
                        assertThat(ask(method, path, "")).as(method).isIn(401, 501);
                      }
                      for (String other : spelledOtherwise(path)) {
                        assertThat(ask(entry.method(), other, ""))
                            .as(other)
                            .isIn(400, 401, 404, 405);
                      }
                    }));
  }

  private static String path(String template) {
    return template
        .replace("{environment}", "env_ffffffffffff")
        .replace("{shell}", "sh_ffffffffffff_1")
        .replace("{command}", "cmd_ffffffffffff_1_1")
        .replace("{pid}", "1")
        .replace("{account}", "alice");
  }

  private static List<String> spelledOtherwise(String path) {
    var others = new ArrayList<String>();
    for (String end : List.of("/", "//", "/.", ";x=/health", "%2f", "%00", "?", "#", ".json")) {
      others.add(path + end);
    }
    others.add("/" + path);
    others.add("/." + path);
    others.add("/health/.." + path);
    others.add("/health/%2e%2e" + path);
    others.add("/health%2f.." + path);
    others.add("/health;" + path);
    others.add(path.replace("/v1/", "/V1/"));
    others.add(path.replace("/v1/", "//v1//"));
    others.add(path.replace("/v1/", "/%76%31/"));
    others.add(path.replace("/v1/", "\\v1\\"));
    others.add("http://127.0.0.1" + path);
    return others;
  }

  /** The status of the answer. */
  private static int ask(String method, String target, String headers) throws IOException {
    String upgrade = headers.startsWith("Upgrade") ? "Upgrade, close" : "close";
    try (var socket = new Socket(api.address.getAddress(), api.address.getPort())) {
      socket.setSoTimeout(20_000);
      String request =
          "%s %s HTTP/1.1\r\nHost: x\r\nConnection: %s\r\n%s\r\n"
              .formatted(method, target, upgrade, headers);
      socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
      byte[] status = socket.getInputStream().readNBytes("HTTP/1.1 401".length());
      return Integer.parseInt(new String(status, StandardCharsets.ISO_8859_1).substring(9));
    }
  }
}
