package io.envapi.app;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.envapi.failure.Result;
import io.envapi.id.AccountId;
import io.envapi.keyring.TokenVerifier;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** The development settings service's routes, on the loopback interface. */
public final class DevSettingsServer implements AutoCloseable {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int MAX_BODY_BYTES = 1 << 16;
  private static final String READ = "GET /v1/internal/settings/environments";
  private static final String WRITE = "PUT /dev/settings";
  private static final String EVERY_PROFILE = "";

  private record Slot(String account, String profile) {}

  private record Answer(int status, JsonNode body) {}

  private final HttpServer server;
  private final ExecutorService workers = Executors.newVirtualThreadPerTaskExecutor();
  private final byte[] authorization;
  private final TokenVerifier tokens;
  private final Map<Slot, ObjectNode> settings = new ConcurrentHashMap<>();

  private DevSettingsServer(HttpServer server, String token, TokenVerifier tokens) {
    this.server = server;
    this.authorization = ("Bearer " + token).getBytes(StandardCharsets.UTF_8);
    this.tokens = tokens;
  }

  /**
   * Listens on {@code port} of 127.0.0.1; 0 takes a free one.
   *
   * @param token what the calling service has to show
   * @param tokens tells whose a caller's token is
   */
  public static DevSettingsServer start(int port, String token, TokenVerifier tokens)
      throws IOException {
    var address = new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), port);
    HttpServer http;
    try {
      http = HttpServer.create(address, 0);
    } catch (IOException e) {
      throw new IOException("cannot listen on port " + port + ": " + e.getMessage(), e);
    }
    var settings = new DevSettingsServer(http, token, tokens);
    http.createContext("/", settings::handle);
    http.setExecutor(settings.workers);
    http.start();
    return settings;
  }

  public String baseUrl() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  @Override
  public void close() {
    server.stop(0);
    workers.shutdownNow();
  }

  private void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      Answer answer;
      try {
        answer = route(exchange);
      } catch (IOException | IllegalArgumentException e) {
        answer = problem(422, "the body is not what this route takes");
      }
      byte[] body = JSON.writeValueAsBytes(answer.body());
      exchange.getResponseHeaders().set("Content-Type", "application/json");
      exchange.sendResponseHeaders(answer.status(), body.length);
      exchange.getResponseBody().write(body);
    }
  }

  private Answer route(HttpExchange exchange) throws IOException {
    return switch (exchange.getRequestMethod() + " " + exchange.getRequestURI().getPath()) {
      case READ -> read(exchange);
      case WRITE -> write(exchange);
      default -> problem(404, "no such route");
    };
  }

  /** Replaces what an account chose, for all profiles or for one. */
  private Answer write(HttpExchange exchange) throws IOException {
    JsonNode body = JSON.readTree(exchange.getRequestBody().readNBytes(MAX_BODY_BYTES));
    if (!(body.path("settings") instanceof ObjectNode chosen)
        || !body.path("account_id").isTextual()) {
      return problem(422, "account_id and settings are needed");
    }
    var slot =
        new Slot(body.path("account_id").asText(), body.path("profile").asText(EVERY_PROFILE));
    settings.put(slot, chosen);
    return new Answer(200, JSON.createObjectNode().put("status", "stored"));
  }

  private Answer read(HttpExchange exchange) {
    byte[] shown = header(exchange, "Authorization").getBytes(StandardCharsets.UTF_8);
    if (!MessageDigest.isEqual(shown, authorization)) {
      return problem(401, "the service token was not accepted");
    }
    var verified =
        tokens.verify(header(exchange, "X-Settings-User-Token")).toCompletableFuture().join();
    return switch (verified) {
      case Result.Refused<AccountId> _ -> problem(401, "the user token was not accepted");
      case Result.Ok<AccountId>(var account) -> {
        ObjectNode merged = chosen(account, EVERY_PROFILE);
        merged.setAll(chosen(account, profile(exchange)));
        yield new Answer(200, JSON.createObjectNode().set("settings", merged));
      }
    };
  }

  private ObjectNode chosen(AccountId account, String profile) {
    return settings
        .getOrDefault(new Slot(account.value(), profile), JSON.createObjectNode())
        .deepCopy();
  }

  private static String profile(HttpExchange exchange) {
    String query = Optional.ofNullable(exchange.getRequestURI().getQuery()).orElse("");
    return query.startsWith("profile=") ? query.substring("profile=".length()) : EVERY_PROFILE;
  }

  private static String header(HttpExchange exchange, String name) {
    return Optional.ofNullable(exchange.getRequestHeaders().getFirst(name)).orElse("");
  }

  private static Answer problem(int status, String detail) {
    return new Answer(status, JSON.createObjectNode().put("status", status).put("detail", detail));
  }
}
