package io.envapi.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What every request meets, whatever it asks for. */
class FrontTest {

  private static RunningFront front;
  private static String[] alice;

  @BeforeAll
  static void start() throws Exception {
    front = RunningFront.start(java.util.List.of());
    alice = new String[] {"Authorization", "Bearer " + front.token("alice")};
  }

  @AfterAll
  static void stop() {
    front.close();
  }

  @Test
  void healthNeedsNoToken() throws Exception {
    for (String path : new String[] {"/health", "/healthy"}) {
      HttpResponse<String> response = front.get(path);
      assertThat(response.statusCode()).isEqualTo(200);
      assertThat(response.body()).isEqualTo("{\"status\":\"ok\",\"service\":\"environments-api\"}");
      assertThat(response.headers().firstValue("Content-Type")).contains("application/json");
    }
    assertThat(RunningFront.json(front.get("/ready")).at("/keyring/status").textValue())
        .isEqualTo("ok");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"/v1/nowhere", "/nowhere", "/", "/v1/echo/", "//health", "/health%2Fready"})
  void anUnknownPathIs404WithOrWithoutAToken(String path) throws Exception {
    assertProblem(front.get(path), 404, "not_found", path);
    assertProblem(front.get(path + "?token=x", alice), 404, "not_found", path);
  }

  @Test
  void aWrongMethodIs405AndTellsTheRightOnes() throws Exception {
    HttpResponse<String> open = front.send("PATCH", "/health", "");
    assertProblem(open, 405, "method_not_allowed", "/health");
    assertThat(open.headers().firstValue("Allow")).contains("GET, HEAD");

    HttpResponse<String> guarded = front.send("PUT", "/v1/echo", "{}", alice);
    assertProblem(guarded, 405, "method_not_allowed", "/v1/echo");
    assertThat(guarded.headers().firstValue("Allow")).contains("GET, HEAD, POST, DELETE");
  }

  /** The parser takes the end of the line for the rest of a character. */
  @ParameterizedTest
  @ValueSource(strings = {"\u00e9", "x\u00e9", "\u00f0"})
  void aHeaderThatSwallowsTheNextHidesNoRequest(String value) throws Exception {
    String hidden = "GET /health HTTP/1.1\r\nHost: x\r\nX-Request-Id: hidden\r\n\r\n";
    String answers =
        front.raw(
            "GET /v1/nowhere HTTP/1.1\r\nHost: x\r\nX-A: %s\r\nContent-Length: %d\r\n\r\n%s"
                .formatted(value, hidden.length(), hidden));
    assertThat(answers).startsWith("HTTP/1.1 4").contains("application/problem+json");
    assertThat(answers).doesNotContain("hidden").doesNotContain("200 OK");
    assertThat(answers.split("HTTP/1.1 ", -1)).hasSize(2);
  }

  @Test
  void headIsGetWithoutABody() throws Exception {
    HttpResponse<String> response = front.send("HEAD", "/health", "");

    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(response.body()).isEmpty();
  }

  @Test
  void noContentHasNoBody() throws Exception {
    HttpResponse<String> response = front.send("DELETE", "/v1/echo", "", alice);

    assertThat(response.statusCode()).isEqualTo(204);
    assertThat(response.body()).isEmpty();
    assertThat(response.headers().firstValue("X-Request-Id")).isPresent();
  }

  @ParameterizedTest
  @ValueSource(strings = {"/v1/thrown", "/v1/failed"})
  void aBugIs500AndTellsNothing(String path) throws Exception {
    HttpResponse<String> response = front.get(path, alice);

    assertProblem(response, 500, "internal_error", path);
    assertThat(response.body()).doesNotContain("secret detail").doesNotContain("Exception");
    assertThat(front.get("/health").statusCode()).isEqualTo(200);
  }

  @Test
  void aTimeOutInsideIs503AndSaysWhenToComeBack() throws Exception {
    HttpResponse<String> response = front.get("/v1/late", alice);

    assertProblem(response, 503, "host_unavailable", "/v1/late");
    assertThat(response.headers().firstValue("Retry-After")).isPresent();
    assertThat(response.body()).doesNotContain("secret detail");
  }

  @Test
  void aSafeRequestIdIsEchoedAndAnyOtherReplaced() throws Exception {
    String longest = "x".repeat(128);
    for (String id : new String[] {"abc-DEF_1.2", longest, "0"}) {
      assertThat(requestId("X-Request-Id", id)).isEqualTo(id);
    }
    for (String id :
        new String[] {"a b", "<script>", longest + "x", "x".repeat(5000), "a/b", "\u00e9"}) {
      assertThat(requestId("X-Request-Id", id)).matches("[0-9a-f]{32}");
    }
    assertThat(requestId()).isNotEqualTo(requestId());
    assertThat(front.get("/v1/nowhere").headers().firstValue("X-Request-Id")).isPresent();
    assertThat(front.get("/v1/thrown", alice).headers().firstValue("X-Request-Id")).isPresent();
  }

  @ParameterizedTest
  @ValueSource(strings = {"[", "{\"a\":"})
  void aDeepBodyIsRefusedAndHarmsNothing(String nesting) throws Exception {
    String body = nesting.repeat((int) RunningFront.MAX_BODY / nesting.length());

    assertProblem(front.send("POST", "/v1/echo", body, alice), 422, "validation_error", "/v1/echo");
    assertThat(front.get("/health").statusCode()).isEqualTo(200);
  }

  @Test
  void aBodyIsReadUpToItsLimit() throws Exception {
    int room = (int) RunningFront.MAX_BODY - "{\"text\":\"\"}".length();
    String fits = "{\"text\":\"" + "x".repeat(room) + "\"}";

    HttpResponse<String> accepted = front.send("POST", "/v1/echo", fits, alice);
    assertThat(accepted.statusCode()).isEqualTo(200);
    assertThat(RunningFront.json(accepted).get("length").intValue()).isEqualTo(room);

    assertProblem(
        front.send("POST", "/v1/echo", fits + " ", alice), 413, "payload_too_large", "/v1/echo");
    assertProblem(
        front.send("POST", "/v1/echo", "x".repeat((int) RunningFront.MAX_BODY * 2), alice),
        413,
        "payload_too_large",
        "/v1/echo");
  }

  @Test
  void aChunkedBodyIsReadUpToItsLimit() throws Exception {
    String head =
        "POST /v1/echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n"
            + "Authorization: "
            + alice[1]
            + "\r\n\r\n";
    assertThat(front.raw(head + "10\r\n{\"text\":\"abcdef\"\r\n1\r\n}\r\n0\r\n\r\n"))
        .startsWith("HTTP/1.1 200 ")
        .endsWith("{\"length\":6}");
    String chunk = "%x\r\n%s\r\n".formatted(30_000, "x".repeat(30_000));
    int chunks = (int) RunningFront.MAX_BODY / 30_000 + 1;
    assertThat(front.raw(head + chunk.repeat(chunks) + "0\r\n\r\n"))
        .startsWith("HTTP/1.1 413 ")
        .contains("application/problem+json")
        .contains("\"code\":\"payload_too_large\"");
  }

  @Test
  void anUnreadBodyDoesNotSpoilTheConnection() throws Exception {
    String body = "x".repeat(90_000);
    for (int i = 0; i < 5; i++) {
      assertThat(front.send("POST", "/v1/nowhere", body, alice).statusCode()).isEqualTo(404);
      assertThat(front.send("POST", "/v1/echo", body).statusCode()).isEqualTo(401);
    }
  }

  @Test
  void whoSendsALargeBodyFirstSeesTheAnswerToo() throws Exception {
    String body = "x".repeat((int) RunningFront.MAX_BODY * 3);
    String head = "POST /v1/echo HTTP/1.1\r\nHost: x\r\nContent-Length: " + body.length();
    for (int i = 0; i < 5; i++) {
      assertThat(front.raw(head + "\r\nConnection: close\r\n\r\n" + body))
          .startsWith("HTTP/1.1 401 ")
          .contains("\"code\":\"unauthorized\"");
    }
  }

  @Test
  void whoWaitsForTheAnswerBeforeTheBodyGetsIt() throws Exception {
    assertThat(front.raw("POST /v1/nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 5000\r\n\r\n"))
        .startsWith("HTTP/1.1 ");
  }

  @Test
  void faultsOfAQueryAreListed() throws Exception {
    HttpResponse<String> response = front.get("/v1/echo?n=x", alice);

    assertProblem(response, 422, "validation_error", "/v1/echo");
    assertThat(RunningFront.json(response).at("/errors/0/loc").toString())
        .isEqualTo("[\"query\",\"n\"]");
    assertProblem(front.get("/v1/echo?n=%ff", alice), 422, "validation_error", "/v1/echo");
    HttpResponse<String> far = front.get("/v1/echo?n=9223372036854775808", alice);
    assertThat(RunningFront.json(far).at("/errors/0/type").asText()).isEqualTo("out_of_range");
  }

  @Test
  void aQueryMayBeSentAsItIs() throws Exception {
    assertThat(
            front.raw(
                "GET /v1/echo?n=2&glob=[a]*|{b}^\\<>`\" HTTP/1.1\r\nHost: x\r\n"
                    + "Connection: close\r\nAuthorization: "
                    + alice[1]
                    + "\r\n\r\n"))
        .startsWith("HTTP/1.1 200 ")
        .contains("\"n\":2");
  }

  @Test
  void anOldClientNeedNotNameTheHost() throws IOException {
    assertThat(front.raw("GET /health HTTP/1.0\r\n\r\n")).startsWith("HTTP/1.1 200 ");
  }

  @Test
  void aTargetThatIsNoUriIsNamed() throws IOException {
    assertThat(front.raw("GET /v1/echo%zz?n=%zz HTTP/1.1\r\nHost: x\r\n\r\n"))
        .startsWith("HTTP/1.1 400 ")
        .contains("\"instance\":\"/v1/echo%zz\"");
    assertThat(front.raw("GET /v1/echo?n=%zz HTTP/1.1\r\nHost: x\r\n\r\n"))
        .contains("\"instance\":\"/v1/echo\"");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "THIS IS GARBAGE\r\n\r\n",
        "GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /health HTTP/9.9\r\nHost: x\r\n\r\n",
        "GET /health HTTP/1.1\r\n\r\n",
        "POST /v1/echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx"
      })
  void whatIsNoRequestIsAProblemToo(String request) throws IOException {
    assertThat(front.raw(request))
        .startsWith("HTTP/1.1 ")
        .doesNotStartWith("HTTP/1.1 2")
        .contains("Content-Type: application/problem+json")
        .contains("X-Request-Id: ");
  }

  @Test
  void theServiceDoesNotSayWhatItIsMadeOf() throws Exception {
    assertThat(front.get("/health").headers().firstValue("Server")).isEmpty();
  }

  private static String requestId(String... headers) throws Exception {
    return front.get("/health", headers).headers().firstValue("X-Request-Id").orElseThrow();
  }

  private static void assertProblem(
      HttpResponse<String> response, int status, String code, String instance) throws IOException {
    assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
    assertThat(response.headers().firstValue("Content-Type")).contains("application/problem+json");
    var body = RunningFront.json(response);
    assertThat(body.get("type").textValue()).isEqualTo("urn:environments-api:error:" + code);
    assertThat(body.get("code").textValue()).isEqualTo(code);
    assertThat(body.get("status").intValue()).isEqualTo(status);
    assertThat(body.get("instance").textValue()).isEqualTo(instance);
    assertThat(body.get("title").textValue()).isNotBlank();
    assertThat(body.get("detail").textValue()).isNotBlank();
  }
}
