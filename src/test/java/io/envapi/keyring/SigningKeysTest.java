package io.envapi.keyring;

import static io.envapi.keyring.KeyringAtHand.KEY;
import static io.envapi.keyring.KeyringAtHand.OTHER_KEY;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.nimbusds.jose.jwk.RSAKey;
import io.envapi.failure.Failure;
import io.envapi.failure.Result;
import io.envapi.id.AccountId;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SigningKeysTest {

  private static final Result<AccountId> ALICE = Result.ok(new AccountId("alice"));
  private static final Result<AccountId> REFUSED = Result.refused(new Failure.Unauthorized());
  private static final Result<AccountId> NO_KEYS =
      Result.refused(new Failure.KeyringUnavailable("keyring's signing keys could not be fetched"));

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

  private Result<AccountId> verify(RSAKey key) {
    return client
        .tokens()
        .verify(KeyringAtHand.token(key, keyring.claims()))
        .toCompletableFuture()
        .join()
        .map(Bearer::account);
  }

  private KeyringStatus status() {
    return client.tokens().status().toCompletableFuture().join();
  }

  private static RSAKey unknown(int n) {
    return new RSAKey.Builder(OTHER_KEY).keyID("unknown-" + n).build();
  }

  @Test
  void nothingIsFetchedBeforeTheFirstToken() {
    assertThat(keyring.requests).hasValue(0);
    verify(KEY);
    assertThat(keyring.requests).hasValue(1);
  }

  @Test
  void keysAreFetchedAgainAfterTheirLifetime() {
    verify(KEY);
    keyring.pass(Duration.ofMinutes(59));
    verify(KEY);
    assertThat(keyring.requests).hasValue(1);
    keyring.pass(Duration.ofMinutes(1));
    assertThat(verify(KEY)).isEqualTo(ALICE);
    assertThat(keyring.requests).hasValue(2);
  }

  @Test
  void aFloodOfUnknownKeysCausesOneFetchPerInterval() {
    verify(KEY);
    for (int round = 1; round <= 3; round++) {
      for (int i = 0; i < 100; i++) {
        assertThat(verify(unknown(round * 1000 + i))).isEqualTo(REFUSED);
      }
      assertThat(keyring.requests).hasValue(1 + round);
      assertThat(verify(KEY)).isEqualTo(ALICE);
      keyring.pass(Duration.ofMinutes(1));
    }
  }

  @Test
  void theFirstTokenOfAllMayBeTheUnknownOneThatCausesTheFetch() {
    for (int i = 0; i < 20; i++) {
      assertThat(verify(unknown(i))).isEqualTo(REFUSED);
    }
    assertThat(keyring.requests).hasValue(1);
  }

  @Test
  void manyAtOnceShareOneFetch() {
    var gate = new CountDownLatch(1);
    var published = keyring.behaviour.get();
    keyring.behaviour.set(
        exchange -> {
          awaitOpen(gate);
          published.answer(exchange);
        });
    var answers = new ArrayList<CompletableFuture<Result<AccountId>>>();
    for (int i = 0; i < 50; i++) {
      RSAKey key = i % 2 == 0 ? KEY : unknown(i);
      answers.add(
          client
              .tokens()
              .verify(KeyringAtHand.token(key, keyring.claims()))
              .thenApply(verified -> verified.map(Bearer::account))
              .toCompletableFuture());
    }
    await().until(() -> keyring.requests.get() == 1);
    gate.countDown();
    for (int i = 0; i < 50; i++) {
      assertThat(answers.get(i).join()).isEqualTo(i % 2 == 0 ? ALICE : REFUSED);
    }
    assertThat(keyring.requests).hasValue(1);
  }

  private static void awaitOpen(CountDownLatch gate) {
    try {
      gate.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void aRotatedKeyIsFoundAndTheOldOneIsGone() {
    assertThat(verify(KEY)).isEqualTo(ALICE);
    keyring.publish(OTHER_KEY);
    assertThat(verify(OTHER_KEY)).isEqualTo(ALICE);
    assertThat(verify(KEY)).as("an accepted token goes with its key").isEqualTo(REFUSED);
    assertThat(keyring.requests).hasValue(2);
    keyring.publish(KEY);
    assertThat(verify(KEY)).as("not looked for again so soon").isEqualTo(REFUSED);
    keyring.pass(Duration.ofMinutes(1));
    assertThat(verify(KEY)).isEqualTo(ALICE);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "garbage",
        "[]",
        "{}",
        "{\"keys\":{}}",
        "{\"keys\":null}",
        "{\"keys\":[1]}",
        "{\"keys\":[]}"
      })
  void anAnswerThatIsNoKeySetIsAFailedFetch(String body) {
    keyring.answer(200, body);
    assertThat(verify(KEY)).isEqualTo(NO_KEYS);
    assertThat(verify(KEY)).isEqualTo(NO_KEYS);
    assertThat(keyring.requests).as("not again so soon").hasValue(1);
    keyring.publish(KEY);
    assertThat(verify(KEY)).isEqualTo(NO_KEYS);
    keyring.pass(Duration.ofMinutes(1));
    assertThat(verify(KEY)).isEqualTo(ALICE);
  }

  @ParameterizedTest
  @ValueSource(ints = {204, 400, 404, 500, 503})
  void anotherStatusIsAFailedFetch(int status) {
    keyring.answer(status, status == 204 ? "" : "{\"keys\":[" + KEY.toPublicJWK() + "]}");
    assertThat(verify(KEY)).isEqualTo(NO_KEYS);
  }

  @Test
  void aRedirectIsNotFollowed() {
    keyring.behaviour.set(
        exchange -> {
          exchange.getResponseHeaders().set("Location", keyring.url() + "/elsewhere");
          exchange.sendResponseHeaders(302, -1);
        });
    assertThat(verify(KEY)).isEqualTo(NO_KEYS);
    assertThat(keyring.requests).hasValue(1);
  }

  @Test
  void anAnswerOfFiftyMegabytesIsNotTakenIn() {
    keyring.behaviour.set(
        exchange -> {
          exchange.sendResponseHeaders(200, 0);
          byte[] spaces = " ".repeat(1 << 16).getBytes(StandardCharsets.UTF_8);
          for (int i = 0; i < 800; i++) {
            exchange.getResponseBody().write(spaces);
          }
        });
    assertThat(verify(KEY)).isEqualTo(NO_KEYS);
  }

  @Test
  void aBodyThatTricklesEndsWithTheTimeout() {
    client.close();
    client = keyring.open(Duration.ofMillis(300));
    var never = new CountDownLatch(1);
    keyring.behaviour.set(
        exchange -> {
          exchange.sendResponseHeaders(200, 1000);
          exchange.getResponseBody().write('{');
          exchange.getResponseBody().flush();
          awaitOpen(never);
        });
    assertThat(verify(KEY)).isEqualTo(NO_KEYS);
    never.countDown();
  }

  @Test
  void heldKeysOutliveAnOutageByADay() {
    assertThat(verify(KEY)).isEqualTo(ALICE);
    keyring.answer(500, "down");
    keyring.pass(Duration.ofHours(1));
    assertThat(verify(KEY)).isEqualTo(ALICE);
    assertThat(status()).isEqualTo(KeyringStatus.STALE);
    assertThat(verify(unknown(1))).as("held keys decide").isEqualTo(REFUSED);
    assertThat(keyring.requests).hasValue(2);
    keyring.pass(Duration.ofHours(24).minusSeconds(1));
    assertThat(verify(KEY)).isEqualTo(ALICE);
    keyring.pass(Duration.ofMinutes(2));
    assertThat(verify(KEY)).isEqualTo(NO_KEYS);
    assertThat(status()).isEqualTo(KeyringStatus.UNREACHABLE);
  }

  @Test
  void afterAnOutageTheKeyringCountsAgain() {
    verify(KEY);
    keyring.answer(500, "down");
    keyring.pass(Duration.ofHours(2));
    assertThat(verify(KEY)).isEqualTo(ALICE);
    keyring.publish(OTHER_KEY);
    keyring.pass(Duration.ofMinutes(1));
    // The first token after the interval is judged by what is held while the keyring is asked.
    verify(KEY);
    await().untilAsserted(() -> assertThat(verify(KEY)).isEqualTo(REFUSED));
    assertThat(verify(OTHER_KEY)).isEqualTo(ALICE);
    assertThat(status()).isEqualTo(KeyringStatus.OK);
  }

  @Test
  void aSetThatHasNoKeysLeftTakesBackTheOldOnes() {
    verify(KEY);
    keyring.answer(200, "{\"keys\":[]}");
    keyring.pass(Duration.ofHours(1));
    assertThat(verify(KEY)).isEqualTo(NO_KEYS);
  }

  @Test
  void aClosedPortIsAnOutage() {
    verify(KEY);
    keyring.close();
    keyring.pass(Duration.ofHours(1));
    assertThat(verify(KEY)).isEqualTo(ALICE);
    assertThat(status()).isEqualTo(KeyringStatus.STALE);
  }

  @Test
  void readinessFetchesWhenNothingIsHeldAndNoMoreThanIsDue() {
    keyring.answer(500, "down");
    for (int i = 0; i < 10; i++) {
      assertThat(status()).isEqualTo(KeyringStatus.UNREACHABLE);
    }
    assertThat(keyring.requests).hasValue(1);
    keyring.publish(KEY);
    keyring.pass(Duration.ofMinutes(1));
    for (int i = 0; i < 10; i++) {
      assertThat(status()).isEqualTo(KeyringStatus.OK);
    }
    assertThat(keyring.requests).hasValue(2);
  }

  @Test
  void aStatusSaysNothingOfAddresses() {
    for (KeyringStatus each : KeyringStatus.values()) {
      assertThat(each.error().orElse("")).doesNotContain("http", "127.0.0.1", "refused");
      assertThat(each.isReady()).isEqualTo(each != KeyringStatus.UNREACHABLE);
    }
  }
}
