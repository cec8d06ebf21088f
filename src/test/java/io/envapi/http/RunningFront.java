package io.envapi.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.typesafe.config.ConfigFactory;
import io.envapi.app.DevKeyringServer;
import io.envapi.id.AccountId;
import io.envapi.keyring.Keyring;
import io.envapi.keyring.KeyringSettings;
import io.envapi.metrics.Metrics;
import io.envapi.sandbox.Layers;
import io.envapi.sandbox.SandboxTier;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.UnaryOperator;
import org.apache.pekko.NotUsed;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.stream.Materializer;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.util.ByteString;

/** The HTTP interface with a keyring, on real sockets, and with routes that need nothing else. */
final class RunningFront implements AutoCloseable {

  /** More than the buffers on the way hold. */
  static final long MAX_BODY = 4_000_000;

  /** Characters in the answer of {@code /v1/large}: more than any buffer between here and there. */
  static final int LARGE = 8 << 20;

  private static final String ISSUER = "http://keyring.example";
  private static final ObjectMapper JSON = new ObjectMapper();

  private final DevKeyringServer devKeyring;
  private final Keyring keyring;
  private final ActorSystem<Void> system;
  private final InetSocketAddress address;
  private final Metrics metrics;
  private final CompletableFuture<Void> endlessEnded;
  private final HttpClient client = HttpClient.newHttpClient();

  private RunningFront(
      DevKeyringServer devKeyring,
      Keyring keyring,
      ActorSystem<Void> system,
      InetSocketAddress address,
      Metrics metrics,
      CompletableFuture<Void> endlessEnded) {
    this.devKeyring = devKeyring;
    this.keyring = keyring;
    this.system = system;
    this.address = address;
    this.metrics = metrics;
    this.endlessEnded = endlessEnded;
  }

  static final LoadSettings UNLIMITED =
      new LoadSettings(
          0,
          0,
          0,
          0,
          1000,
          0,
          Duration.ofSeconds(30),
          Duration.ofSeconds(60),
          Duration.ofMinutes(2));

  static RunningFront start(List<String> apiKeys) throws Exception {
    return start(apiKeys, UNLIMITED);
  }

  static RunningFront start(List<String> apiKeys, LoadSettings load) throws Exception {
    var metrics = new Metrics();
    var endlessEnded = new CompletableFuture<Void>();
    var devKeyring = DevKeyringServer.start(0, ISSUER, "a-service-token-of-enough-characters");
    var keyring =
        Keyring.open(
            new KeyringSettings(
                URI.create(devKeyring.baseUrl().toString()),
                ISSUER,
                "environments-api",
                Optional.empty(),
                Duration.ofSeconds(5),
                Duration.ofHours(1),
                Duration.ofMinutes(1),
                "personal"));
    ActorSystem<Void> system =
        ActorSystem.create(
            Behaviors.empty(),
            "http-test",
            ConfigFactory.parseString("pekko.loglevel = WARNING")
                .withFallback(ConfigFactory.defaultReference()));
    var settings =
        new HttpSettings(
            "127.0.0.1",
            0,
            apiKeys,
            Set.of(new AccountId("operator")),
            MAX_BODY,
            Duration.ofSeconds(30),
            Duration.ofSeconds(5),
            true,
            load,
            "");
    var stopping = new Stopping();
    var front =
        new Front(
            routes(keyring, endlessEnded),
            new Gate(apiKeys, keyring.tokens(), "personal", load.refusedPerSecond()),
            UnaryOperator.identity(),
            settings,
            stopping,
            metrics,
            Materializer.createMaterializer(system));
    HttpServer server =
        HttpServer.start(system, front::handle, stopping, settings, metrics)
            .toCompletableFuture()
            .get(30, TimeUnit.SECONDS);
    return new RunningFront(
        devKeyring, keyring, system, server.localAddress(), metrics, endlessEnded);
  }

  private static RouteTable routes(Keyring keyring, CompletableFuture<Void> endlessEnded) {
    var routes = new RouteTable();
    var readiness =
        new Readiness(
            SandboxTier.USER, SandboxTier.DIRECTORY, new Layers("none", false, false, false), true);
    new HealthRoutes(readiness, keyring.tokens()::status).addTo(routes);
    routes
        .on("/v1/echo")
        .get(
            (exchange, caller) ->
                exchange.query(
                    query -> query.integer("n", 1, 0, 9),
                    n ->
                        Answer.ok(
                                Json.object()
                                    .put("account", caller.account().value())
                                    .put("profile", caller.profile())
                                    .put("n", n))
                            .now()))
        .post(
            (exchange, _) ->
                exchange.body(
                    body -> body.text("text"),
                    text -> Answer.ok(Json.object().put("length", text.length())).now()))
        .delete((_, _) -> new Answer.Nothing().now());
    routes
        .on("/v1/admin/echo")
        .add("GET", new RouteTable.ForOperator((_, _) -> new Answer.Nothing().now()));
    routes
        .on("/v1/thrown")
        .get(
            (_, _) -> {
              throw new IllegalStateException("secret detail");
            });
    routes
        .on("/v1/failed")
        .get((_, _) -> CompletableFuture.failedStage(new StackOverflowError("secret detail")));
    routes
        .on("/v1/slow")
        .get(
            (_, _) ->
                CompletableFuture.supplyAsync(
                    Answer.Nothing::new, CompletableFuture.delayedExecutor(4, TimeUnit.SECONDS)));
    routes
        .on("/v1/ticks")
        .get(
            (_, _) ->
                new Answer.Events(
                        Source.tick(Duration.ZERO, Duration.ofMillis(200), Sse.COMMENT)
                            .take(20)
                            .mapMaterializedValue(_ -> NotUsed.getInstance()))
                    .now());
    routes
        .on("/v1/large")
        .get((_, _) -> Answer.ok(Json.object().put("text", "x".repeat(LARGE))).now());
    routes.on("/v1/endless").get((_, _) -> endless(endlessEnded).now());
    routes
        .on("/v1/late")
        .get((_, _) -> CompletableFuture.failedStage(new TimeoutException("secret detail")));
    return routes;
  }

  private static Answer endless(CompletableFuture<Void> ended) {
    return new Answer.Bytes(
        200,
        "application/octet-stream",
        List.of(),
        OptionalLong.empty(),
        Source.repeat(ByteString.fromArray(new byte[64 * 1024]))
            .watchTermination(
                (mat, done) -> {
                  done.whenComplete((_, _) -> ended.complete(null));
                  return mat;
                }));
  }

  /** Completes when {@code /v1/endless} makes no more. */
  CompletableFuture<Void> endlessEnded() {
    return endlessEnded;
  }

  InetSocketAddress address() {
    return address;
  }

  /** Those of clients, as the service counts them. */
  int connections() {
    return metrics
        .text()
        .lines()
        .filter(line -> line.startsWith("envapi_http_connections "))
        .map(line -> (int) Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .findFirst()
        .orElseThrow();
  }

  String mint(String account, String audience) throws IOException, InterruptedException {
    String body =
        JSON.createObjectNode().put("account_id", account).put("audience", audience).toString();
    HttpResponse<String> minted =
        client.send(
            HttpRequest.newBuilder(URI.create(devKeyring.baseUrl() + "/dev/mint"))
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build(),
            HttpResponse.BodyHandlers.ofString());
    return JSON.readTree(minted.body()).get("token").textValue();
  }

  /** A token that ends soon. */
  String token(String account, Duration lifetime) {
    return devKeyring.mint(account, lifetime);
  }

  String token(String account) throws IOException, InterruptedException {
    return mint(account, "environments-api");
  }

  /**
   * @param headers names and values in turn
   */
  HttpResponse<String> send(String method, String target, String body, String... headers)
      throws IOException, InterruptedException {
    var request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + address.getPort() + target))
            .method(method, HttpRequest.BodyPublishers.ofString(body));
    if (headers.length > 0) {
      request.headers(headers);
    }
    return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  HttpResponse<String> get(String target, String... headers)
      throws IOException, InterruptedException {
    return send("GET", target, "", headers);
  }

  /** A connection of one's own. */
  Socket connect() throws IOException {
    return new Socket(address.getAddress(), address.getPort());
  }

  /** Sends bytes as they are and reads until the service closes the connection. */
  String raw(String request) throws IOException {
    try (var socket = new Socket(address.getAddress(), address.getPort())) {
      socket.setSoTimeout(20_000);
      socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
      socket.getOutputStream().flush();
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
    }
  }

  static JsonNode json(HttpResponse<String> response) throws IOException {
    return JSON.readTree(response.body());
  }

  @Override
  public void close() {
    system.terminate();
    system.getWhenTerminated().toCompletableFuture().join();
    keyring.close();
    devKeyring.close();
  }
}
