package io.envapi.app;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import io.envapi.failure.Result;
import io.envapi.id.AccountId;
import io.envapi.keyring.Bearer;
import io.envapi.keyring.TokenVerifier;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** The development settings service's routes, on the loopback interface. */
public final class DevSettingsServer implements AutoCloseable {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int MAX_BODY_BYTES = 1 << 16;
  private static final String READ = "GET /v1/internal/settings/environments";
  private static final String WRITE = "PUT /dev/settings";
  private static final String EVERY_PROFILE = "";

  private record Slot(String account, String profile) {}

  private final DevServer server;
  private final String token;
  private final TokenVerifier tokens;
  private final Map<Slot, ObjectNode> settings = new ConcurrentHashMap<>();

  private DevSettingsServer(int port, String token, TokenVerifier tokens) throws IOException {
    this.token = token;
    this.tokens = tokens;
    this.server = DevServer.start(port, this::route);
  }

  /**
   * Listens on {@code port} of 127.0.0.1; 0 takes a free one.
   *
   * @param token what the calling service has to show
   * @param tokens tells whose a caller's token is
   */
  public static DevSettingsServer start(int port, String token, TokenVerifier tokens)
      throws IOException {
    return new DevSettingsServer(port, token, tokens);
  }

  public String baseUrl() {
    return server.baseUrl();
  }

  @Override
  public void close() {
    server.close();
  }

  private DevServer.Answer route(HttpExchange exchange) throws IOException {
    return switch (exchange.getRequestMethod() + " " + exchange.getRequestURI().getPath()) {
      case READ -> read(exchange);
      case WRITE -> write(exchange);
      default -> DevServer.problem(404, "no such route");
    };
  }

  /** Replaces what an account chose, for all profiles or for one. */
  private DevServer.Answer write(HttpExchange exchange) throws IOException {
    JsonNode body = JSON.readTree(exchange.getRequestBody().readNBytes(MAX_BODY_BYTES));
    if (!(body.path("settings") instanceof ObjectNode chosen)
        || !body.path("account_id").isTextual()) {
      return DevServer.problem(422, "account_id and settings are needed");
    }
    var slot =
        new Slot(body.path("account_id").asText(), body.path("profile").asText(EVERY_PROFILE));
    settings.put(slot, chosen);
    return new DevServer.Answer(200, JSON.createObjectNode().put("status", "stored"));
  }

  private DevServer.Answer read(HttpExchange exchange) {
    if (!DevServer.shows(exchange, token)) {
      return DevServer.problem(401, "the service token was not accepted");
    }
    var verified =
        tokens
            .verify(DevServer.header(exchange, "X-Settings-User-Token"))
            .toCompletableFuture()
            .join();
    return switch (verified) {
      case Result.Refused<Bearer> _ -> DevServer.problem(401, "the user token was not accepted");
      case Result.Ok<Bearer>(var bearer) -> {
        ObjectNode merged = chosen(bearer.account(), EVERY_PROFILE);
        merged.setAll(chosen(bearer.account(), profile(exchange)));
        yield new DevServer.Answer(200, JSON.createObjectNode().set("settings", merged));
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
}
