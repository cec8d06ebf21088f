package io.envapi.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.envapi.failure.Failure;
import io.envapi.failure.Result;
import io.envapi.id.AccountId;
import io.envapi.keyring.Bearer;
import io.envapi.keyring.Caller;
import io.envapi.keyring.Credentials;
import io.envapi.keyring.Keyring;
import io.envapi.keyring.KeyringSettings;
import io.envapi.keyring.Secret;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The stand-in, spoken to by the service's own client and by hand. */
class DevKeyringTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String ISSUER = "http://127.0.0.1:8001";

  private final HttpClient http = HttpClient.newHttpClient();
  private DevKeyringServer server;
  private Keyring client;

  @BeforeEach
  void start() throws IOException {
    server = DevKeyring.start(Map.of("DEV_KEYRING_PORT", "0"));
    client =
        Keyring.open(
            new KeyringSettings(
                URI.create(server.baseUrl()),
                ISSUER,
                "environments-api",
                Optional.of(Secret.of(DevKeyring.DEFAULT_SERVICE_TOKEN)),
                Duration.ofSeconds(10),
                Duration.ofHours(1),
                Duration.ofMillis(1),
                "personal"));
  }

  @AfterEach
  void stop() {
    client.close();
    server.close();
    http.close();
  }

  private HttpResponse<String> send(String method, String path, String body, String... headers)
      throws IOException, InterruptedException {
    var request =
        HttpRequest.newBuilder(URI.create(server.baseUrl() + path))
            .method(method, HttpRequest.BodyPublishers.ofString(body));
    if (headers.length > 0) {
      request.headers(headers);
    }
    return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  private String mint(String body) throws IOException, InterruptedException {
    var answer = send("POST", "/dev/mint", body);
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return JSON.readTree(answer.body()).get("token").asText();
  }

  private Result<AccountId> verify(String token) {
    return client.tokens().verify(token).toCompletableFuture().join().map(Bearer::account);
  }

  private Credentials resolve(String account, String profile) {
    var caller =
        new Caller(
            new AccountId(account),
            profile,
            Secret.of(server.mint(account, Duration.ofMinutes(5))),
            Instant.MAX);
    var result =
        client
            .credentials()
            .resolve(caller, profile, new TreeSet<>(List.of("tmdb")))
            .toCompletableFuture()
            .join();
    return ((Result.Ok<Credentials>) result).value();
  }

  @Test
  void aMintedTokenIsAcceptedAndHasTheClaims() throws Exception {
    String token = mint("{\"account_id\":\"alice\"}");
    assertThat(verify(token)).isEqualTo(Result.ok(new AccountId("alice")));
    JsonNode claims = part(token, 1);
    assertThat(claims.get("aud").textValue()).isEqualTo("environments-api");
    assertThat(claims.get("iss").textValue()).isEqualTo(ISSUER);
    assertThat(claims.get("exp").asLong() - claims.get("iat").asLong()).isEqualTo(300);
    JsonNode key =
        JSON.readTree(send("GET", "/.well-known/jwks.json", "").body()).get("keys").get(0);
    assertThat(key.get("kid")).isEqualTo(part(token, 0).get("kid"));
    assertThat(key.get("alg").textValue()).isEqualTo("RS256");
    assertThat(key.has("d")).as("the private half").isFalse();
  }

  private static JsonNode part(String token, int index) throws IOException {
    return JSON.readTree(Base64.getUrlDecoder().decode(token.split("\\.")[index]));
  }

  @Test
  void otherAudiencesIssuersAndTimesAreMintedAndRefused() throws Exception {
    for (String extra :
        List.of("\"audience\":\"other\"", "\"issuer\":\"http://evil\"", "\"ttl\":-1")) {
      assertThat(verify(mint("{\"account_id\":\"alice\"," + extra + "}")))
          .as(extra)
          .isEqualTo(Result.refused(new Failure.Unauthorized()));
    }
  }

  @Test
  void aRotatedKeySignsTokensThatAreAccepted() {
    assertThat(verify(server.mint("alice", Duration.ofMinutes(1)))).isInstanceOf(Result.Ok.class);
    server.rotateKey();
    assertThat(verify(server.mint("alice", Duration.ofMinutes(1)))).isInstanceOf(Result.Ok.class);
    assertThat(server.keyFetches()).isEqualTo(2);
  }

  @Test
  void aCredentialIsAnsweredToItsAccountUnderItsProfileOnly() throws Exception {
    var stored =
        send(
            "PUT",
            "/dev/credentials/work/tmdb",
            "{\"account_id\":\"alice\",\"query_params\":{\"api_key\":\"k-123\"}}");
    assertThat(stored.body()).isEqualTo("{\"status\":\"stored\"}");
    assertThat(resolve("alice", "work").merged())
        .containsEntry("TMDB_TOKEN", Secret.of("k-123"))
        .containsEntry("TMDB_API_KEY", Secret.of("k-123"));
    assertThat(resolve("bob", "work").missing()).containsExactly("tmdb");
    assertThat(resolve("alice", "personal").missing()).containsExactly("tmdb");
  }

  @Test
  void credentialsNeedBothTokens() throws Exception {
    String path = "/v1/internal/credentials/work/tmdb";
    String user = server.mint("alice", Duration.ofMinutes(1));
    String service = "Bearer " + DevKeyring.DEFAULT_SERVICE_TOKEN;
    assertThat(send("GET", path, "").statusCode()).isEqualTo(401);
    assertThat(send("GET", path, "", "Authorization", service).statusCode()).isEqualTo(401);
    assertThat(send("GET", path, "", "X-Keyring-User-Token", user).statusCode()).isEqualTo(401);
    for (String bad :
        List.of(
            "x",
            user + "x",
            server.mint("alice", Duration.ofSeconds(-1)),
            mint("{\"account_id\":\"alice\",\"issuer\":\"http://evil\"}"))) {
      var answer = send("GET", path, "", "Authorization", service, "X-Keyring-User-Token", bad);
      assertThat(answer.statusCode()).isEqualTo(401);
    }
    var answer = send("GET", path, "", "Authorization", service, "X-Keyring-User-Token", user);
    assertThat(answer.statusCode()).isEqualTo(404);
  }

  @Test
  void bodiesThatDoNotFitAreRefusedAsProblems() throws Exception {
    for (String body :
        List.of(
            "",
            "oops",
            "[]",
            "{}",
            "{\"account_id\":1}",
            "{\"account_id\":\"a\",\"ttl\":\"x\"}",
            "{\"account_id\":\"a\",\"ttl\":1e300}",
            "{\"account_id\":\"a\",\"x\":\"" + "x".repeat(2 << 20) + "\"}")) {
      var answer = send("POST", "/dev/mint", body);
      assertThat(answer.statusCode()).isEqualTo(422);
      assertThat(answer.headers().firstValue("Content-Type")).hasValue("application/problem+json");
    }
    assertThat(send("GET", "/nowhere", "").statusCode()).isEqualTo(404);
    assertThat(send("PUT", "/dev/credentials/../tmdb", "{}").statusCode()).isEqualTo(404);
  }

  @Test
  void settingsThatDoNotFitAreNamed() {
    assertThatThrownBy(() -> DevKeyring.start(Map.of("DEV_KEYRING_PORT", "x")))
        .hasMessageContaining("DEV_KEYRING_PORT");
    assertThatThrownBy(() -> DevKeyring.start(Map.of("DEV_KEYRING_SERVICE_TOKEN", "short")))
        .hasMessageContaining("DEV_KEYRING_SERVICE_TOKEN")
        .hasMessageNotContaining("short");
  }

  @Test
  void theProgramSaysWhereItListensAndEndsWithZeroOnSigterm() throws Exception {
    var builder =
        new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-cp",
            System.getProperty("java.class.path"),
            "io.envapi.app.DevKeyring");
    builder.environment().put("DEV_KEYRING_PORT", "0");
    Process process = builder.start();
    try (var errors =
        new BufferedReader(
            new InputStreamReader(process.getErrorStream(), StandardCharsets.UTF_8))) {
      assertThat(errors.readLine()).startsWith("dev keyring: listening on http://127.0.0.1:");
      process.destroy();
      assertThat(process.waitFor(10, TimeUnit.SECONDS)).isTrue();
      assertThat(process.exitValue()).isZero();
    } finally {
      process.destroyForcibly();
    }
  }
}
