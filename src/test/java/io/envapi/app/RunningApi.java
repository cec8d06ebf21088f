package io.envapi.app;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.envapi.audit.AuditLog;
import io.envapi.audit.AuditSettings;
import io.envapi.http.Api;
import io.envapi.http.HttpServer;
import io.envapi.keyring.Keyring;
import io.envapi.keyring.KeyringSettings;
import io.envapi.preferences.Preferences;
import io.envapi.preferences.PreferencesSettings;
import io.envapi.sandbox.SandboxProbe;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

/** The whole service with a keyring in this process, on a data root, behind a real socket. */
public final class RunningApi implements AutoCloseable {

  private static final String TOKEN = "a-service-token-of-enough-characters";
  private static final ObjectMapper JSON = new ObjectMapper();

  public final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  public final Api api;
  public final InetSocketAddress address;
  public final String token;

  private final Path directory;
  private final DevKeyringServer devKeyring;
  private final Keyring keyring;
  private final Preferences preferences;
  private final AuditLog audit;
  private final DataRoot root;
  private final Service service;

  private RunningApi(Path directory, Map<String, String> variables) throws Exception {
    this.directory = directory;
    devKeyring = DevKeyringServer.start(0, "http://keyring.example", TOKEN);
    var all = new HashMap<>(variables);
    all.put("ENVAPI_ROOT", directory.toString());
    all.put("ENVAPI_HTTP_PORT", "0");
    all.put("ENVAPI_KEYRING_BASE_URL", devKeyring.baseUrl().toString());
    all.put("ENVAPI_KEYRING_ISSUER", "http://keyring.example");
    all.put("ENVAPI_KEYRING_SERVICE_TOKEN", TOKEN);
    Settings settings = ((Settings.Loaded) Settings.load(all)).settings();
    root = ((DataRoot.Opened) DataRoot.open(directory)).root();
    var sandbox = ((SandboxProbe.Outcome.Chosen) SandboxProbe.probe(settings.sandbox())).sandbox();
    audit = AuditLog.open(root.directory("audit"), AuditSettings.from(settings.envapi()));
    service = Service.start(settings, root, sandbox, audit);
    var node = TestService.await(service.running());
    var keyringSettings = KeyringSettings.from(settings.envapi());
    keyring = Keyring.open(keyringSettings);
    preferences =
        Preferences.open(
            PreferencesSettings.from(settings.envapi()), keyringSettings.defaultProfile());
    api = Main.api(settings, service, node, keyring, preferences, audit, sandbox);
    address =
        TestService.await(HttpServer.start(service.system(), api, settings.http())).localAddress();
    token = token("alice");
  }

  /** A token of another account. */
  public String token(String account) throws Exception {
    var mint =
        HttpRequest.newBuilder(URI.create(devKeyring.baseUrl() + "/dev/mint"))
            .POST(
                HttpRequest.BodyPublishers.ofString(
                    "{\"account_id\":\"%s\",\"ttl\":3600}".formatted(account)));
    return json(client.send(mint.build(), HttpResponse.BodyHandlers.ofString()))
        .get("token")
        .asText();
  }

  /**
   * @param variables more {@code ENVAPI_} variables
   */
  public static RunningApi start(Path directory, Map<String, String> variables) throws Exception {
    return new RunningApi(directory, variables);
  }

  /** A token that another service would accept. */
  public String tokenFor(String account, String audience) throws Exception {
    var mint =
        HttpRequest.newBuilder(URI.create(devKeyring.baseUrl() + "/dev/mint"))
            .POST(
                HttpRequest.BodyPublishers.ofString(
                    "{\"account_id\":\"%s\",\"audience\":\"%s\"}".formatted(account, audience)));
    return json(client.send(mint.build(), HttpResponse.BodyHandlers.ofString()))
        .get("token")
        .asText();
  }

  /** A request with the token of the account. */
  public HttpRequest.Builder request(String target) {
    return request(target, token);
  }

  public HttpRequest.Builder request(String target, String of) {
    return anonymous(target).header("Authorization", "Bearer " + of);
  }

  /** A request without a token. */
  public HttpRequest.Builder anonymous(String target) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + address.getPort() + target));
  }

  public String tokenOf(String account) {
    return tokenOf(account, Duration.ofHours(1));
  }

  public String tokenOf(String account, Duration lifetime) {
    return devKeyring.mint(account, lifetime);
  }

  /** One call as another account; an empty body is none. */
  public HttpResponse<String> call(
      String account, String method, String target, String body, String... headers)
      throws Exception {
    var request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + address.getPort() + target))
            .header("Authorization", "Bearer " + tokenOf(account))
            .method(
                method,
                body.isEmpty()
                    ? HttpRequest.BodyPublishers.noBody()
                    : HttpRequest.BodyPublishers.ofString(body));
    if (headers.length > 0) {
      request.headers(headers);
    }
    return send(request);
  }

  public HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
    return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  /** Makes an environment; its path under the routes. */
  public String environment() throws Exception {
    var response =
        send(
            request("/v1/environments")
                .POST(HttpRequest.BodyPublishers.ofString("{\"name\":\"t\"}")));
    String id = json(response).path("environment_id").asText(json(response).path("id").asText());
    return "/v1/environments/" + id;
  }

  /** Where the workspace of the environment is. */
  public Path workspace(String environment) throws Exception {
    String id = environment.substring(environment.lastIndexOf('/') + 1);
    try (Stream<Path> tree = Files.find(directory, 6, (p, _) -> p.endsWith(id + "/workspace"))) {
      return Objects.requireNonNull(tree.findFirst().orElse(null), () -> "no workspace of " + id);
    }
  }

  public static JsonNode json(HttpResponse<String> response) throws Exception {
    return JSON.readTree(response.body());
  }

  @Override
  public void close() throws IOException {
    service.system().terminate();
    TestService.await(service.system().getWhenTerminated());
    keyring.close();
    preferences.close();
    devKeyring.close();
    audit.close();
    root.close();
  }
}
