package io.envapi.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What a web page can make a browser do to a service on this host: send anything without a token,
 * under any name. Nothing but a token in a header lets anybody in, browsers are never told that a
 * page may read an answer, and so the name that a request was sent to need not be checked, which a
 * proxy may choose as it likes.
 */
class WebPagesTest {

  private static RunningFront front;
  private static String alice;

  @BeforeAll
  static void start() throws Exception {
    front = RunningFront.start(List.of());
    alice = front.token("alice");
  }

  @AfterAll
  static void stop() {
    front.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"null", "https://evil.example", "http://127.0.0.1", "file://"})
  void noOriginMayReadAnAnswer(String origin) throws IOException {
    for (String authorization : List.of("", "Authorization: Bearer " + alice + "\r\n")) {
      for (String path : List.of("/health", "/v1/echo", "/v1/nowhere")) {
        String answer = ask("GET", path, "Origin: " + origin + "\r\n" + authorization, "");
        assertNothingForPages(answer);
      }
    }
  }

  @Test
  void norAStream() throws IOException {
    String headers = "Origin: null\r\nAuthorization: Bearer " + alice + "\r\n";
    assertNothingForPages(ask("GET", "/v1/ticks", headers, ""));
  }

  @Test
  void aPreflightIsNotGranted() throws IOException {
    for (String path : List.of("/health", "/v1/echo", "/v1/admin/echo", "*")) {
      String answer =
          ask(
              "OPTIONS",
              path,
              "Origin: null\r\nAccess-Control-Request-Method: POST\r\n"
                  + "Access-Control-Request-Headers: authorization\r\n",
              "");
      assertThat(answer).doesNotStartWith("HTTP/1.1 2");
      assertNothingForPages(answer);
    }
  }

  /** The ways that need no preflight, with all that a browser adds by itself. */
  @ParameterizedTest
  @ValueSource(
      strings = {"text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""})
  void aFormIsRefused(String type) throws IOException {
    String headers =
        "Cookie: token="
            + alice
            + "; Authorization=Bearer%20"
            + alice
            + "\r\nOrigin: null\r\n"
            + (type.isEmpty() ? "" : "Content-Type: " + type + "\r\n");
    for (String path : List.of("/v1/echo", "/v1/echo?access_token=" + alice)) {
      assertThat(ask("POST", path, headers, "{\"text\":\"x\"}"))
          .startsWith("HTTP/1.1 401 ")
          .doesNotContainIgnoringCase("set-cookie")
          // Else a browser would ask its user for a password, and then send it with every request.
          .doesNotContainIgnoringCase("www-authenticate: basic");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"evil.example", "evil.example:8008", "169.254.169.254", "localhost"})
  void theNameOfTheHostLetsNobodyIn(String host) throws IOException {
    String named = "GET /v1/echo HTTP/1.1\r\nConnection: close\r\nHost: " + host + "\r\n";

    assertThat(front.raw(named + "\r\n"))
        .startsWith("HTTP/1.1 401 ")
        .doesNotContain("\r\nLocation:");
    assertThat(front.raw(named + "Authorization: Bearer " + alice + "\r\n\r\n"))
        .as("a proxy passes on the name that its clients use")
        .startsWith("HTTP/1.1 200 ");
  }

  private static String ask(String method, String path, String headers, String body)
      throws IOException {
    return front.raw(
        method
            + " "
            + path
            + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
            + headers
            + "Content-Length: "
            + body.length()
            + "\r\n\r\n"
            + body);
  }

  private static void assertNothingForPages(String answer) {
    assertThat(answer).startsWith("HTTP/1.1 ");
    assertThat(answer.toLowerCase(Locale.ROOT)).doesNotContain("access-control-");
  }
}
