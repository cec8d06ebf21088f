package io.envapi.keyring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.envapi.failure.Failure;
import io.envapi.failure.Result;
import io.envapi.id.AccountId;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CredentialClientTest {

  private static final Failure UNREACHABLE =
      new Failure.KeyringUnavailable("keyring is unreachable");

  private KeyringAtHand keyring;
  private Keyring client;

  @BeforeEach
  void open() throws IOException {
    keyring = new KeyringAtHand();
    client = keyring.open(Duration.ofSeconds(10));
  }

  @AfterEach
  void close() {
    client.close();
    keyring.close();
  }

  private Result<Credentials> resolve(String... services) {
    var caller =
        new Caller(new AccountId("alice"), "personal", Secret.of("user.to.ken"), Instant.MAX);
    return client
        .credentials()
        .resolve(caller, "work", new TreeSet<>(List.of(services)))
        .toCompletableFuture()
        .join();
  }

  private static Map<String, String> revealed(Result<Credentials> result) {
    var all = new LinkedHashMap<String, String>();
    ((Result.Ok<Credentials>) result).value().merged().forEach((k, v) -> all.put(k, v.reveal()));
    return all;
  }

  @Test
  void aCredentialIsAskedForWithBothTokensUnderTheProfile() {
    var seen = new ConcurrentHashMap<String, String>();
    keyring.behaviour.set(
        exchange -> {
          seen.put("path", exchange.getRequestURI().toString());
          seen.put("service", exchange.getRequestHeaders().getFirst("Authorization"));
          seen.put("user", exchange.getRequestHeaders().getFirst("X-Keyring-User-Token"));
          KeyringAtHand.send(exchange, 404, "{}");
        });
    resolve("tmdb");
    assertThat(seen)
        .containsEntry("path", "/v1/internal/credentials/work/tmdb")
        .containsEntry("service", "Bearer " + KeyringAtHand.SERVICE_TOKEN)
        .containsEntry("user", "user.to.ken");
  }

  @Test
  void whatTheKeyringSentIsOverwrittenOnceItIsRead() {
    String good = "{\"headers\":{\"Authorization\":\"Bearer abc\"},\"query_params\":{}}";
    for (String sent : List.of(good, "{\"headers\":7}", "no JSON", "")) {
      for (int status : List.of(200, 401, 404, 500, 503)) {
        byte[] body = sent.getBytes(StandardCharsets.UTF_8);
        var result = CredentialClient.read("tmdb", status, body);
        assertThat(body).as(sent).isEqualTo(new byte[body.length]);
        if (status == 200 && sent.equals(good)) {
          assertThat(result).isInstanceOf(Result.Ok.class);
        }
      }
    }
  }

  @Test
  void credentialsCanBeOverwritten() {
    keyring.answer(
        200, "{\"headers\":{\"Authorization\":\"Bearer abc\"},\"query_params\":{\"k\":\"v\"}}");
    Result<Credentials> result = resolve("tmdb");
    assertThat(revealed(result)).containsEntry("TMDB_TOKEN", "abc");

    ((Result.Ok<Credentials>) result).value().wipe();

    assertThat(revealed(result)).hasSize(3).allSatisfy((_, it) -> assertThat(it).matches("\0*"));
  }

  @Test
  void allAreAskedForAtOnceAndTheMissingNamed() {
    var together = new CountDownLatch(3);
    keyring.behaviour.set(
        exchange -> {
          together.countDown();
          try {
            assertThat(together.await(10, TimeUnit.SECONDS)).isTrue();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
          boolean stored = !exchange.getRequestURI().getPath().endsWith("/b");
          KeyringAtHand.send(
              exchange, stored ? 200 : 404, stored ? "{\"headers\":{\"X\":\"v-a-l\"}}" : "{}");
        });
    var credentials = ((Result.Ok<Credentials>) resolve("a", "b", "c")).value();
    assertThat(credentials.variables()).containsOnlyKeys("a", "c");
    assertThat(credentials.missing()).containsExactly("b");
    assertThat(credentials.merged()).containsOnlyKeys("A_X", "A_TOKEN", "C_X", "C_TOKEN");
    assertThat(credentials.toString()).doesNotContain("v-a-l");
  }

  @ParameterizedTest
  @CsvSource({
    "401, ",
    "403, keyring is unreachable",
    "500, keyring is unreachable",
    "302, keyring is unreachable",
    "201, keyring is unreachable"
  })
  void statusesBecomeFailures(int status, String message) {
    keyring.answer(status, "{\"detail\":\"not to be shown\"}");
    assertThat(resolve("a"))
        .isEqualTo(
            Result.refused(
                message == null
                    ? new Failure.Unauthorized()
                    : new Failure.KeyringUnavailable(message)));
  }

  @Test
  void theKeyringsOwnWordsForA503AreHandedOn() {
    keyring.answer(503, "{\"detail\":\"the vault is sealed\"}");
    assertThat(resolve("a"))
        .isEqualTo(Result.refused(new Failure.KeyringUnavailable("the vault is sealed")));
    for (String body : List.of("", "oops", "{}", "{\"detail\":\" \"}", "[]", "{\"detail\":{}}")) {
      keyring.answer(503, body);
      assertThat(resolve("a")).as(body).isEqualTo(Result.refused(UNREACHABLE));
    }
    keyring.answer(503, "{\"detail\":\"" + "x".repeat(100_000) + "\"}");
    var failure = ((Result.Refused<Credentials>) resolve("a")).failure();
    assertThat(((Failure.KeyringUnavailable) failure).message()).hasSizeLessThanOrEqualTo(500);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "oops",
        "[]",
        "null",
        "1",
        "{\"headers\":[]}",
        "{\"headers\":{\"A\":1}}",
        "{\"headers\":{\"A\":null}}",
        "{\"query_params\":\"x\"}",
        "{\"headers\":{\"A\":\"\\u0000\"}}"
      })
  void whatCannotBeReadWasNotAnswered(String body) {
    keyring.answer(200, body);
    assertThat(resolve("a")).isEqualTo(Result.refused(UNREACHABLE));
  }

  @Test
  void tooLargeAnAnswerAndNoAnswerAtAllAreAlike() {
    keyring.answer(200, "{\"headers\":{\"A\":\"" + "x".repeat(2 << 20) + "\"}}");
    assertThat(resolve("a")).isEqualTo(Result.refused(UNREACHABLE));
    keyring.close();
    assertThat(resolve("a")).isEqualTo(Result.refused(UNREACHABLE));
  }

  @Test
  void aTokenThatNoHeaderCanCarryIsNotQuoted() {
    var caller = new Caller(new AccountId("alice"), "personal", Secret.of("a\nb"), Instant.MAX);
    var services = new TreeSet<>(List.of("tmdb"));
    assertThat(client.credentials().resolve(caller, "work", services).toCompletableFuture().join())
        .isEqualTo(Result.refused(UNREACHABLE));
    assertThat(keyring.requests).hasValue(0);
  }

  @Test
  void namesThatCouldLeaveThePathAreABug() {
    assertThatThrownBy(() -> resolve("../../dev")).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void withoutServicesNobodyIsAsked() {
    assertThat(resolve()).isEqualTo(Result.ok(Credentials.NONE));
    assertThat(keyring.requests).hasValue(0);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "tmdb | {} | {\"api_key\":\"k-1\"} | TMDB_API_KEY=k-1 TMDB_TOKEN=k-1",
        "git-hub | {\"Authorization\":\"Bearer t-1\"} | {} | GIT_HUB_AUTHORIZATION=Bearer:t-1 GIT_HUB_TOKEN=t-1",
        "s | {\"authorization\":\"t-1\"} | {} | S_AUTHORIZATION=t-1 S_TOKEN=t-1",
        "s | {\"Authorization\":\"Basic dTpw\",\"X-Org\":\"o\"} | {\"q.r\":\"v\"} | S_AUTHORIZATION=Basic:dTpw S_X_ORG=o S_Q_R=v S_TOKEN=dTpw",
        "s | {\"X-Api-Key\":\"one\"} | {\"api_key\":\"two\"} | S_X_API_KEY=one S_API_KEY=two",
        "s | {} | {} | ``",
        "1pass | {\"X\":\"v\"} | {} | _1PASS_X=v _1PASS_TOKEN=v",
        "s | {\"X-é\":\"v\",\"Y\":\"w\"} | {} | S_X__=v S_Y=w"
      })
  void variablesAreSpelledByTheRules(
      String service, String headers, String queryParams, String expected) {
    keyring.answer(
        200,
        "{\"headers\":" + headers + ",\"query_params\":" + queryParams + ",\"expires_at\":null}");
    var shown = new StringBuilder();
    revealed(resolve(service)).forEach((k, v) -> shown.append(k + "=" + v.replace(' ', ':') + " "));
    assertThat(shown.toString().trim()).isEqualTo(expected);
  }
}
