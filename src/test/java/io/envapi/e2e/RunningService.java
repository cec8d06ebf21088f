package io.envapi.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.envapi.app.DevKeyring;
import io.envapi.app.Main;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * The service and its keyring in processes of their own, on a root of their own.
 *
 * <p>{@code -Denvapi.e2e.tier=user} runs it in that sandbox tier instead of the strongest.
 */
final class RunningService implements AutoCloseable {

  static final String OPERATOR = "operator";

  /** A machine that builds at the same time needs most of it. */
  private static final Duration START = Duration.ofMinutes(3);

  /** The first compiler alone: these services live for seconds, and start in half the time. */
  private static final String[] SERVICE_JVM = {"-Xmx256m", "-XX:TieredStopAtLevel=1"};

  private final Path directory;
  private final Map<String, String> variables;
  private final String base;
  private final String keyringBase;
  private final Runnable endKeyring;
  private final HttpClient http = HttpClient.newHttpClient();
  private JavaProcess service;

  private RunningService(
      Path directory,
      Map<String, String> variables,
      String base,
      String keyringBase,
      Runnable endKeyring)
      throws IOException {
    this.directory = directory;
    this.variables = variables;
    this.base = base;
    this.keyringBase = keyringBase;
    this.endKeyring = endKeyring;
    this.service = launch();
  }

  /**
   * Starts both and waits until they are ready.
   *
   * @param directory the root is made below it
   * @param more {@code ENVAPI_} variables
   */
  static RunningService start(Path directory, Map<String, String> more) throws Exception {
    return start(directory, more, Map.of());
  }

  /**
   * @param forKeyring {@code DEV_KEYRING_} variables
   */
  static RunningService start(
      Path directory, Map<String, String> more, Map<String, String> forKeyring) throws Exception {
    // Sandboxed users pass through it to their workspaces, which a temporary directory forbids.
    Files.setPosixFilePermissions(
        directory, java.nio.file.attribute.PosixFilePermissions.fromString("rwx--x--x"));
    int port = freePort();
    int keyringPort = freePort();
    String keyringBase = "http://127.0.0.1:" + keyringPort;
    var variables = new HashMap<String, String>();
    variables.put("ENVAPI_ROOT", directory.resolve("root").toString());
    variables.put("ENVAPI_HTTP_PORT", Integer.toString(port));
    variables.put("ENVAPI_KEYRING_BASE_URL", keyringBase);
    variables.put("ENVAPI_KEYRING_ISSUER", keyringBase);
    variables.put("ENVAPI_OPERATOR_ACCOUNTS", OPERATOR);
    variables.put("ENVAPI_LOG_JSON", "false");
    variables.put("ENVAPI_SANDBOX_TIER", System.getProperty("envapi.e2e.tier", ""));
    variables.putAll(more);
    var keyringVariables = new HashMap<>(forKeyring);
    keyringVariables.put("DEV_KEYRING_PORT", Integer.toString(keyringPort));
    keyringVariables.put("DEV_KEYRING_ISSUER", keyringBase);
    JavaProcess keyring =
        JavaProcess.start(
            DevKeyring.class.getName(),
            keyringVariables,
            directory.resolve("keyring.log"),
            "-Xmx64m",
            "-XX:TieredStopAtLevel=1");
    var running =
        new RunningService(
            directory, variables, "http://127.0.0.1:" + port, keyringBase, keyring::close);
    try {
      running.awaitReady();
    } catch (Throwable e) {
      running.close();
      throw e;
    }
    return running;
  }

  /** A service on a root of its own with the keyring of this one; waits until it is ready. */
  RunningService beside(Path place, Map<String, String> different) throws Exception {
    Files.setPosixFilePermissions(
        place, java.nio.file.attribute.PosixFilePermissions.fromString("rwx--x--x"));
    int port = freePort();
    var changed = new HashMap<>(variables);
    changed.put("ENVAPI_ROOT", place.resolve("root").toString());
    changed.put("ENVAPI_HTTP_PORT", Integer.toString(port));
    changed.putAll(different);
    var other =
        new RunningService(place, changed, "http://127.0.0.1:" + port, keyringBase, () -> {});
    try {
      other.awaitReady();
    } catch (Throwable e) {
      other.close();
      throw e;
    }
    return other;
  }

  private JavaProcess launch() throws IOException {
    return JavaProcess.start(
        Main.class.getName(), variables, directory.resolve("service.log"), SERVICE_JVM);
  }

  /** A second service on the same root and with the same settings but for these. */
  JavaProcess another(Map<String, String> different) throws IOException {
    var changed = new HashMap<>(variables);
    changed.putAll(different);
    return JavaProcess.start(
        Main.class.getName(),
        changed,
        Files.createTempFile(directory, "another", ".log"),
        SERVICE_JVM);
  }

  void awaitReady() {
    await()
        .atMost(START)
        .pollInterval(Duration.ofMillis(50))
        .failFast("the service ended", () -> !service.isAlive())
        .ignoreExceptions()
        .untilAsserted(() -> assertThat(status("/ready")).as("%s", service.log()).isEqualTo(200));
  }

  private int status(String path) throws IOException, InterruptedException {
    return http.send(
            HttpRequest.newBuilder(URI.create(base + path)).timeout(Duration.ofSeconds(5)).build(),
            HttpResponse.BodyHandlers.discarding())
        .statusCode();
  }

  /** Starts it again after its end, and waits until it is ready. */
  void restart() throws IOException {
    assertThat(service.isAlive()).isFalse();
    service = launch();
    awaitReady();
  }

  /** Starts it again if an earlier test ended it. */
  void ensureRunning() throws IOException {
    if (!service.isAlive()) {
      restart();
    }
  }

  void kill() {
    service.kill();
  }

  JavaProcess process() {
    return service;
  }

  /** Where the keyring answers. */
  String keyring() {
    return keyringBase;
  }

  /** The same account's calls, to this service. */
  Client as(Client client) {
    return new Client(http, base, client.token());
  }

  Path root() {
    return directory.resolve("root");
  }

  /** What all services on this root have logged. */
  String log() throws IOException {
    return service.log();
  }

  /** Calls as {@code account}, with a token for an hour. */
  Client as(String account) throws Exception {
    byte[] body = Client.JSON.writeValueAsBytes(Map.of("account_id", account, "ttl", 3600));
    HttpResponse<byte[]> answer =
        http.send(
            HttpRequest.newBuilder(URI.create(keyringBase + "/dev/mint"))
                .POST(HttpRequest.BodyPublishers.ofByteArray(body))
                .build(),
            HttpResponse.BodyHandlers.ofByteArray());
    JsonNode token = Client.JSON.readTree(answer.body()).path("token");
    return new Client(http, base, token.asText());
  }

  static int freePort() throws IOException {
    try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  @Override
  public void close() {
    http.shutdownNow();
    service.close();
    endKeyring.run();
  }
}
