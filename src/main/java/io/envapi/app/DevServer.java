package io.envapi.app;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/** Answers in JSON on the loopback interface, for what stands in for another service. */
final class DevServer implements AutoCloseable {

  private static final ObjectMapper JSON = new ObjectMapper();

  static {
    // The JDK's server writes head and body apart; with Nagle's algorithm that costs 40 ms each
    // time.
    System.setProperty("sun.net.httpserver.nodelay", "true");
  }

  /** An answer; from status 400 on it is a problem document. */
  record Answer(int status, Object body) {}

  /** What answers a request. It refuses a body it does not take by an exception. */
  @FunctionalInterface
  interface Routes {
    Answer answer(HttpExchange exchange) throws IOException;
  }

  private final HttpServer server;
  private final ExecutorService workers = Executors.newVirtualThreadPerTaskExecutor();

  private DevServer(HttpServer server) {
    this.server = server;
  }

  /** Listens on {@code port} of 127.0.0.1; 0 takes a free one. */
  static DevServer start(int port, Routes routes) throws IOException {
    var address = new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), port);
    HttpServer http;
    try {
      http = HttpServer.create(address, 0);
    } catch (IOException e) {
      throw new IOException("cannot listen on port " + port + ": " + e.getMessage(), e);
    }
    var server = new DevServer(http);
    http.createContext("/", exchange -> handle(exchange, routes));
    http.setExecutor(server.workers);
    http.start();
    return server;
  }

  String baseUrl() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  @Override
  public void close() {
    server.stop(0);
    workers.shutdownNow();
  }

  private static void handle(HttpExchange exchange, Routes routes) throws IOException {
    try (exchange) {
      Answer answer;
      try {
        answer = routes.answer(exchange);
      } catch (IOException | IllegalArgumentException e) {
        answer = problem(422, "the body is not what this route takes");
      }
      byte[] body = JSON.writeValueAsBytes(answer.body());
      String type = answer.status() < 400 ? "application/json" : "application/problem+json";
      exchange.getResponseHeaders().set("Content-Type", type);
      exchange.sendResponseHeaders(answer.status(), body.length);
      exchange.getResponseBody().write(body);
    }
  }

  /** Whether a request shows the token that another service has for this one. */
  static boolean shows(HttpExchange exchange, String token) {
    return MessageDigest.isEqual(
        header(exchange, "Authorization").getBytes(StandardCharsets.UTF_8),
        ("Bearer " + token).getBytes(StandardCharsets.UTF_8));
  }

  /** Empty where the request has none of that name. */
  static String header(HttpExchange exchange, String name) {
    @Nullable String value = exchange.getRequestHeaders().getFirst(name);
    return value == null ? "" : value;
  }

  static Answer problem(int status, String detail) {
    return new Answer(status, Map.of("type", "about:blank", "status", status, "detail", detail));
  }
}
