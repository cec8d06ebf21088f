package io.envapi.app;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The development keyring's routes, on the loopback interface. */
public final class DevKeyringServer implements AutoCloseable {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int MAX_BODY_BYTES = 1 << 20;
  private static final String AUDIENCE = "environments-api";
  private static final long MAX_TTL_SECONDS = Duration.ofDays(366).toSeconds();
  private static final String ANYBODY = "";
  private static final Pattern CREDENTIAL =
      Pattern.compile(
          "/(dev|v1/internal)/credentials/([a-z0-9][a-z0-9_-]{0,63})/([a-z0-9][a-z0-9_-]{0,63})");

  private record Slot(String account, String profile, String service) {}

  private final DevServer server;
  private final String issuer;
  private final String serviceToken;
  private final DevKeyringTokens tokens;
  private final Map<Slot, JsonNode> credentials = new ConcurrentHashMap<>();
  private final AtomicInteger keyFetches = new AtomicInteger();

  private DevKeyringServer(int port, String issuer, String serviceToken) throws IOException {
    this.issuer = issuer;
    this.serviceToken = serviceToken;
    this.tokens = new DevKeyringTokens(issuer);
    this.server = DevServer.start(port, this::route);
  }

  /** Listens on {@code port} of 127.0.0.1; 0 takes a free one. */
  public static DevKeyringServer start(int port, String issuer, String serviceToken)
      throws IOException {
    return new DevKeyringServer(port, issuer, serviceToken);
  }

  public String baseUrl() {
    return server.baseUrl();
  }

  /** How often the key set was asked for. */
  public int keyFetches() {
    return keyFetches.get();
  }

  /** From now on another key is published and signs. */
  public void rotateKey() {
    tokens.rotate();
  }

  public String mint(String account, Duration ttl) {
    return tokens.mint(account, AUDIENCE, issuer, ttl);
  }

  @Override
  public void close() {
    server.close();
  }

  private DevServer.Answer route(HttpExchange exchange) throws IOException {
    String path = exchange.getRequestURI().getPath();
    String route = exchange.getRequestMethod() + " " + path;
    if (route.equals("GET /.well-known/jwks.json")) {
      keyFetches.incrementAndGet();
      return new DevServer.Answer(200, tokens.published());
    }
    if (route.equals("POST /dev/mint")) {
      return mint(body(exchange));
    }
    Matcher credential = CREDENTIAL.matcher(path);
    if (credential.matches()) {
      boolean development = credential.group(1).equals("dev");
      String profile = credential.group(2);
      String service = credential.group(3);
      if (development && exchange.getRequestMethod().equals("PUT")) {
        return store(profile, service, body(exchange));
      }
      if (!development && exchange.getRequestMethod().equals("GET")) {
        return credential(exchange, profile, service);
      }
    }
    return DevServer.problem(404, "no such route");
  }

  private DevServer.Answer mint(JsonNode body) {
    String account = text(body, "account_id", "");
    JsonNode ttl = body.path("ttl");
    boolean ttlFits =
        ttl.isMissingNode() || (ttl.isNumber() && Math.abs(ttl.asDouble()) <= MAX_TTL_SECONDS);
    if (account.isEmpty() || !ttlFits) {
      return DevServer.problem(
          422, "account_id is needed, and ttl is a number of seconds up to a year");
    }
    Duration lifetime = Duration.ofMillis(Math.round(ttl.asDouble(300) * 1000));
    String token =
        tokens.mint(
            account, text(body, "audience", AUDIENCE), text(body, "issuer", issuer), lifetime);
    return new DevServer.Answer(200, Map.of("token", token));
  }

  private DevServer.Answer store(String profile, String service, JsonNode body) {
    var credential = new LinkedHashMap<String, Object>();
    credential.put("service", service);
    credential.put("headers", texts(body.path("headers")));
    credential.put("query_params", texts(body.path("query_params")));
    credential.put("expires_at", null);
    var slot = new Slot(text(body, "account_id", ANYBODY), profile, service);
    credentials.put(slot, JSON.valueToTree(credential));
    return new DevServer.Answer(200, Map.of("status", "stored"));
  }

  private DevServer.Answer credential(HttpExchange exchange, String profile, String service) {
    if (!DevServer.shows(exchange, serviceToken)) {
      return DevServer.problem(401, "the service token was not accepted");
    }
    Optional<String> account = tokens.accountOf(DevServer.header(exchange, "X-Keyring-User-Token"));
    if (account.isEmpty()) {
      return DevServer.problem(401, "the user token was not accepted");
    }
    JsonNode found = credentials.get(new Slot(account.get(), profile, service));
    if (found == null) {
      found = credentials.get(new Slot(ANYBODY, profile, service));
    }
    return found == null
        ? DevServer.problem(404, "nothing is stored")
        : new DevServer.Answer(200, found);
  }

  private static JsonNode body(HttpExchange exchange) throws IOException {
    byte[] bytes = exchange.getRequestBody().readNBytes(MAX_BODY_BYTES + 1);
    JsonNode json = bytes.length > MAX_BODY_BYTES ? null : JSON.readTree(bytes);
    if (json == null || !json.isObject()) {
      throw new IllegalArgumentException("no object");
    }
    return json;
  }

  private static String text(JsonNode body, String member, String otherwise) {
    JsonNode value = body.path(member);
    if (value.isMissingNode() || value.isNull()) {
      return otherwise;
    }
    if (!value.isTextual()) {
      throw new IllegalArgumentException(member);
    }
    return value.textValue();
  }

  private static Map<String, String> texts(JsonNode object) {
    var texts = new LinkedHashMap<String, String>();
    object.properties().forEach(each -> texts.put(each.getKey(), text(object, each.getKey(), "")));
    return texts;
  }
}
