package io.envapi.preferences;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.envapi.failure.Failure;
import io.envapi.failure.Result;
import io.envapi.id.AccountId;
import io.envapi.keyring.Caller;
import io.envapi.keyring.Secret;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PreferencesTest {

  private static final String SERVICE_TOKEN = "a-settings-token-of-enough-characters";
  private static final Optional<String> NO_PROFILE = Optional.empty();

  private interface Behaviour {
    void answer(HttpExchange exchange) throws IOException;
  }

  private final AtomicReference<Behaviour> behaviour = new AtomicReference<>();
  private final ConcurrentLinkedQueue<String> asked = new ConcurrentLinkedQueue<>();
  private final AtomicLong nanos = new AtomicLong();
  private final ExecutorService workers = Executors.newVirtualThreadPerTaskExecutor();
  private HttpServer server;
  private Preferences preferences;

  @BeforeEach
  void start() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(workers);
    server.createContext(
        "/",
        exchange -> {
          asked.add(exchange.getRequestURI().toString());
          try (exchange) {
            behaviour.get().answer(exchange);
          }
        });
    server.start();
    preferences = open(Duration.ofSeconds(5));
  }

  @AfterEach
  void stop() {
    preferences.close();
    server.stop(0);
    workers.shutdownNow();
  }

  private Preferences open(Duration timeout) {
    var url = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/base/");
    return Preferences.open(
        Optional.of(new PreferencesSettings(url, Secret.of(SERVICE_TOKEN), timeout)),
        "deployment",
        nanos::get);
  }

  private void settings(String members) {
    answer(200, "{\"settings\": {" + members + "}, \"revision\": 7}");
  }

  private void answer(int status, String body) {
    behaviour.set(exchange -> send(exchange, status, body));
  }

  private static void send(HttpExchange exchange, int status, String body) throws IOException {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
    exchange.getResponseBody().write(bytes);
  }

  private static Caller caller(String account) {
    return new Caller(
        new AccountId(account), "ignored", Secret.of("token.of." + account), Instant.MAX);
  }

  private Result<Chosen> of(String account, Optional<String> named) {
    return get(preferences, account, named);
  }

  private static Result<Chosen> get(
      Preferences preferences, String account, Optional<String> named) {
    return preferences.of(caller(account), named).toCompletableFuture().join();
  }

  private Chosen chosen(Optional<String> named) {
    return ((Result.Ok<Chosen>) of("alice", named)).value();
  }

  private static void assertUnavailable(Result<Chosen> result, String detail) {
    assertThat(result).isEqualTo(Result.refused(new Failure.PreferencesUnavailable(detail)));
  }

  @Test
  void withoutTheServiceEverybodyHasTheDeploymentsValues() {
    try (var off = Preferences.open(Optional.empty(), "deployment")) {
      assertThat(get(off, "alice", NO_PROFILE))
          .isEqualTo(Result.ok(Chosen.nothing(false, "deployment")));
      assertThat(get(off, "alice", Optional.of("work")))
          .isEqualTo(Result.ok(Chosen.nothing(false, "work")));
    }
    assertThat(asked).isEmpty();
  }

  @Test
  void bothTokensAreShownAndTheProfileIsNamed() {
    var headers = new ConcurrentLinkedQueue<List<String>>();
    behaviour.set(
        exchange -> {
          headers.add(
              List.of(
                  exchange.getRequestHeaders().getFirst("Authorization"),
                  exchange.getRequestHeaders().getFirst("X-Settings-User-Token"),
                  exchange.getRequestHeaders().getFirst("X-Keyring-User-Token")));
          send(exchange, 200, "{\"settings\": {}}");
        });

    assertThat(chosen(Optional.of("work"))).isEqualTo(Chosen.nothing(true, "work"));

    assertThat(asked).containsExactly("/base/v1/internal/settings/environments?profile=work");
    assertThat(headers)
        .containsExactly(List.of("Bearer " + SERVICE_TOKEN, "token.of.alice", "token.of.alice"));
  }

  @Test
  void aRequestWithoutAProfileRunsInThePersonsOwn() {
    behaviour.set(
        exchange ->
            send(
                exchange,
                200,
                exchange.getRequestURI().getQuery() == null
                    ? "{\"settings\": {\"default_profile\": \"family\"}}"
                    : "{\"settings\": {\"idle_shell_minutes\": 2}}"));

    Chosen chosen = chosen(NO_PROFILE);

    assertThat(chosen.profile()).isEqualTo("family");
    assertThat(chosen.shellIdleTtlSeconds()).contains(120.0);
    assertThat(asked)
        .containsExactly(
            "/base/v1/internal/settings/environments",
            "/base/v1/internal/settings/environments?profile=family");
  }

  @ParameterizedTest
  @ValueSource(strings = {"null", "7", "\"\"", "\"../up\"", "\"UPPER\"", "[]"})
  void aDefaultProfileThatIsNoNameIsNotChosen(String value) {
    settings("\"default_profile\": " + value);

    assertThat(chosen(NO_PROFILE).profile()).isEqualTo("deployment");
  }

  @ParameterizedTest
  @CsvSource({
    "environment_idle_ttl_seconds, 90.5, 90.5",
    "environment_idle_ttl_seconds, 0.001, 60",
    "environment_idle_ttl_seconds, 1e300, 604800",
    "idle_environment_hours, 2, 7200",
    "idle_environment_hours, 200, 604800",
  })
  void aTimeIsBroughtWithinItsBounds(String key, String value, double seconds) {
    settings("\"" + key + "\": " + value);

    assertThat(chosen(Optional.of("p")).environmentIdleTtlSeconds()).contains(seconds);
  }

  @ParameterizedTest
  @CsvSource({
    "shell_idle_ttl_seconds, 61, 61",
    "shell_idle_ttl_seconds, 1, 60",
    "idle_shell_minutes, 5, 300",
    "idle_shell_minutes, 2000, 86400",
  })
  void soIsThatOfAShell(String key, String value, double seconds) {
    settings("\"" + key + "\": " + value);

    assertThat(chosen(Optional.of("p")).shellIdleTtlSeconds()).contains(seconds);
  }

  @ParameterizedTest
  @ValueSource(strings = {"true", "\"3\"", "0", "-1", "null", "{}", "1.5", "1e400"})
  void aCountThatIsNoneIsNotChosen(String value) {
    settings("\"max_environments_per_profile\": " + value + ", \"default_shell\": \"a b\"");

    Result<Chosen> result = of("alice", Optional.of("p"));

    assertThat(result).isEqualTo(Result.ok(Chosen.nothing(true, "p")));
  }

  @ParameterizedTest
  @ValueSource(ints = {400, 401, 403, 404, 422})
  void aRefusalIsNotCoveredUp(int status) {
    answer(status, "{\"detail\": \"grants and namespaces\"}");

    assertUnavailable(of("alice", NO_PROFILE), Preferences.REJECTED);
    assertUnavailable(of("alice", Optional.of("work")), Preferences.REJECTED);
    assertThat(asked).as("a refusal is not kept").hasSize(2);
  }

  @ParameterizedTest
  @ValueSource(ints = {302, 408, 429, 500, 503})
  void anOutageLeavesANamedProfileWithTheDeploymentsValues(int status) {
    answer(status, "{\"settings\": {\"default_profile\": \"work\"}}");

    assertUnavailable(of("alice", NO_PROFILE), Preferences.PROFILE_UNKNOWN);
    assertThat(chosen(Optional.of("work"))).isEqualTo(Chosen.nothing(true, "work"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "<html>", "null", "[]", "{}", "{\"settings\": 1}", "{\"settings\": [1]}"})
  void whatIsNoSettingsIsAnOutage(String body) {
    answer(200, body);

    assertUnavailable(of("alice", NO_PROFILE), Preferences.PROFILE_UNKNOWN);
  }

  @Test
  void soAreTooLargeAnAnswerAndADeepOne() {
    answer(200, "{\"settings\": {\"x\": \"" + "y".repeat(2 << 20) + "\"}}");
    assertUnavailable(of("alice", NO_PROFILE), Preferences.PROFILE_UNKNOWN);

    answer(200, "[".repeat(100_000));
    assertUnavailable(of("alice", NO_PROFILE), Preferences.PROFILE_UNKNOWN);
  }

  @Test
  void aServiceThatHangsIsWaitedForNoLongerThanSet() {
    var gate = new CountDownLatch(1);
    behaviour.set(exchange -> awaitQuietly(gate));
    try (var impatient = open(Duration.ofMillis(300))) {
      long began = System.nanoTime();

      assertUnavailable(get(impatient, "alice", NO_PROFILE), Preferences.PROFILE_UNKNOWN);

      assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(Duration.ofSeconds(4));
    } finally {
      gate.countDown();
    }
  }

  @Test
  void aClosedPortIsAnOutage() {
    server.stop(0);

    assertUnavailable(of("alice", NO_PROFILE), Preferences.PROFILE_UNKNOWN);
    assertThat(chosen(Optional.of("work"))).isEqualTo(Chosen.nothing(true, "work"));
  }

  @Test
  void anAnswerServesForAWhileAndThroughAnOutageForLonger() {
    settings("\"max_environments_per_profile\": 3");
    assertThat(chosen(Optional.of("p")).environmentsPerProfile()).contains(3L);
    settings("\"max_environments_per_profile\": 4");
    assertThat(chosen(Optional.of("p")).environmentsPerProfile()).contains(3L);
    assertThat(asked).hasSize(1);

    nanos.addAndGet(Duration.ofSeconds(31).toNanos());
    assertThat(chosen(Optional.of("p")).environmentsPerProfile()).contains(4L);

    answer(503, "");
    nanos.addAndGet(Duration.ofMinutes(50).toNanos());
    assertThat(chosen(Optional.of("p")).environmentsPerProfile()).contains(4L);

    nanos.addAndGet(Duration.ofMinutes(20).toNanos());
    assertThat(chosen(Optional.of("p"))).isEqualTo(Chosen.nothing(true, "p"));
  }

  @Test
  void aRefusalEndsWhatWasHeld() {
    settings("\"max_environments_per_profile\": 3");
    assertThat(chosen(Optional.of("p")).environmentsPerProfile()).contains(3L);
    nanos.addAndGet(Duration.ofSeconds(31).toNanos());
    answer(403, "");
    assertUnavailable(of("alice", Optional.of("p")), Preferences.REJECTED);

    answer(503, "");
    assertThat(chosen(Optional.of("p"))).isEqualTo(Chosen.nothing(true, "p"));
  }

  @Test
  void nobodyGetsWhatAnotherChose() {
    behaviour.set(
        exchange -> {
          String token = exchange.getRequestHeaders().getFirst("X-Settings-User-Token");
          String profile = token.substring("token.of.".length());
          send(exchange, 200, "{\"settings\": {\"default_profile\": \"" + profile + "\"}}");
        });

    for (String account : List.of("alice", "bob", "alice")) {
      assertThat(of("" + account, NO_PROFILE))
          .isInstanceOfSatisfying(
              Result.Ok.class,
              ok -> assertThat(((Chosen) ok.value()).profile()).isEqualTo(account));
    }
  }

  @Test
  void manyAtOnceShareOneQuestion() throws Exception {
    var gate = new CountDownLatch(1);
    behaviour.set(
        exchange -> {
          awaitQuietly(gate);
          send(exchange, 200, "{\"settings\": {}}");
        });
    List<CompletableFuture<Result<Chosen>>> waiting =
        IntStream.range(0, 50)
            .mapToObj(_ -> preferences.of(caller("alice"), Optional.of("p")).toCompletableFuture())
            .toList();

    gate.countDown();

    for (var each : waiting) {
      assertThat(each.get(10, TimeUnit.SECONDS)).isInstanceOf(Result.Ok.class);
    }
    assertThat(asked).hasSize(1);
  }

  private static void awaitQuietly(CountDownLatch gate) {
    try {
      gate.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
