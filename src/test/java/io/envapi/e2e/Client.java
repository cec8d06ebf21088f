package io.envapi.e2e;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** One account's calls to the service. */
final class Client {

  static final ObjectMapper JSON = new ObjectMapper();

  private final HttpClient http;
  private final String base;
  private final String token;
  private final Map<String, String> headers;

  Client(HttpClient http, String base, String token) {
    this(http, base, token, Map.of());
  }

  private Client(HttpClient http, String base, String token, Map<String, String> headers) {
    this.http = http;
    this.base = base;
    this.token = token;
    this.headers = headers;
  }

  /** The same account, with one more header in each call. */
  Client with(String header, String value) {
    var more = new HashMap<>(headers);
    more.put(header, value);
    return new Client(http, base, token, more);
  }

  CompletableFuture<Answer> send(String method, String path, Object body) {
    try {
      HttpRequest.Builder request =
          HttpRequest.newBuilder(URI.create(base + path))
              .timeout(Duration.ofSeconds(90))
              .header("Authorization", "Bearer " + token);
      headers.forEach(request::header);
      if (body.equals("")) {
        request.method(method, HttpRequest.BodyPublishers.noBody());
      } else {
        request
            .header("Content-Type", "application/json")
            .method(method, HttpRequest.BodyPublishers.ofByteArray(JSON.writeValueAsBytes(body)));
      }
      return http.sendAsync(request.build(), HttpResponse.BodyHandlers.ofByteArray())
          .thenApply(Client::answer);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Follows events; {@code headers} are names and values in turn. */
  EventStream follow(String path, String... headers) throws IOException {
    return EventStream.of(open("GET", path, "", headers));
  }

  /** Runs something and follows it in the answer. */
  EventStream followed(String path, Map<String, ?> body) throws IOException {
    return EventStream.of(open("POST", path, body, "Accept", "text/event-stream"));
  }

  /** An answer whose body is read as it comes. */
  HttpResponse<InputStream> open(String method, String path, Object body, String... headers)
      throws IOException {
    try {
      HttpRequest.Builder request =
          HttpRequest.newBuilder(URI.create(base + path))
              .header("Authorization", "Bearer " + token);
      for (int i = 0; i < headers.length; i += 2) {
        request.header(headers[i], headers[i + 1]);
      }
      request.method(
          method,
          body.equals("")
              ? HttpRequest.BodyPublishers.noBody()
              : HttpRequest.BodyPublishers.ofByteArray(JSON.writeValueAsBytes(body)));
      return http.send(request.build(), HttpResponse.BodyHandlers.ofInputStream());
    } catch (InterruptedException e) {
      throw new IOException("interrupted", e);
    }
  }

  /** Sends a request over a connection of its own, and reads nothing. */
  Socket send(String path) throws IOException {
    return write("GET " + path + " HTTP/1.1\r\n", new byte[0]);
  }

  /** The same, with a body and one more header line. */
  Socket send(String path, Map<String, ?> body, String header) throws IOException {
    byte[] json = JSON.writeValueAsBytes(body);
    return write(
        "POST %s HTTP/1.1\r\n%s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n"
            .formatted(path, header, json.length),
        json);
  }

  private Socket write(String head, byte[] body) throws IOException {
    URI to = URI.create(base);
    var socket = new Socket();
    // Before it connects, or the kernel would take far more for it.
    socket.setReceiveBufferSize(4096);
    socket.connect(new InetSocketAddress(to.getHost(), to.getPort()));
    String rest = "Host: %s\r\nAuthorization: Bearer %s\r\n\r\n".formatted(to.getHost(), token);
    socket.getOutputStream().write((head + rest).getBytes(StandardCharsets.US_ASCII));
    socket.getOutputStream().write(body);
    return socket;
  }

  String base() {
    return base;
  }

  String token() {
    return token;
  }

  private static Answer answer(HttpResponse<byte[]> response) {
    try {
      JsonNode body =
          response.body().length == 0 ? MissingNode.getInstance() : JSON.readTree(response.body());
      return new Answer(response.statusCode(), body, response.headers());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Throws {@link IOException} when no answer came. */
  Answer call(String method, String path, Object body) throws IOException {
    try {
      return send(method, path, body).join();
    } catch (CompletionException e) {
      throw new IOException("no answer to " + method + " " + path, e.getCause());
    }
  }

  Answer get(String path) throws IOException {
    return call("GET", path, "");
  }

  Answer post(String path, Map<String, ?> body) throws IOException {
    return call("POST", path, body);
  }

  Answer delete(String path) throws IOException {
    return call("DELETE", path, "");
  }

  /** A new environment's id. */
  String environment(String name) throws IOException {
    return post("/v1/environments", Map.of("name", name)).expect(201).path("id").asText();
  }

  /** A new shell's id. */
  String shell(String environment) throws IOException {
    return post("/v1/environments/" + environment + "/shells", Map.of())
        .expect(201)
        .path("id")
        .asText();
  }

  Answer exec(String shell, String command, long waitMs) throws IOException {
    return post("/v1/shells/" + shell + "/exec", Map.of("command", command, "wait_ms", waitMs));
  }
}
