package io.envapi.keyring;

import static io.envapi.keyring.KeyringAtHand.KEY;
import static io.envapi.keyring.KeyringAtHand.header;
import static io.envapi.keyring.KeyringAtHand.sign;
import static org.assertj.core.api.Assertions.assertThat;

import com.nimbusds.jose.util.JSONObjectUtils;
import io.envapi.failure.Failure;
import io.envapi.failure.Result;
import io.envapi.id.AccountId;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The claims of tokens that are rightly signed. */
class TokenClaimsTest {

  private static final Result<AccountId> ALICE = Result.ok(new AccountId("alice"));
  private static final Result<AccountId> REFUSED = Result.refused(new Failure.Unauthorized());

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

  private Result<AccountId> verify(String token) {
    return client.tokens().verify(token).toCompletableFuture().join().map(Bearer::account);
  }

  private Result<AccountId> withClaims(String claims) {
    return verify(sign(KEY, header("key-1"), claims));
  }

  /** The standing claims with one replaced by a piece of JSON, or left out. */
  private Result<AccountId> withClaim(String name, String json) {
    Map<String, Object> claims = keyring.claims();
    claims.remove(name);
    String rest = JSONObjectUtils.toJSONString(claims);
    String member = json.isEmpty() ? "" : ",\"" + name + "\":" + json;
    return withClaims(rest.substring(0, rest.length() - 1) + member + "}");
  }

  private String seconds(double fromNow) {
    return Double.toString(keyring.now.get().getEpochSecond() + fromNow);
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      value = {
        "iss,``",
        "iss,null",
        "iss,\"https://issuer.example/\"",
        "iss,\"https://issuer.example.evil\"",
        "iss,\"https://issuer.exampl\"",
        "iss,[\"https://issuer.example\"]",
        "iss,1",
        "aud,``",
        "aud,null",
        "aud,\"other\"",
        "aud,[\"environments-api\"]",
        "aud,[]",
        "aud,\"Environments-api\"",
        "aud,{}",
        "sub,``",
        "sub,null",
        "sub,\"\"",
        "sub,1",
        "sub,[\"alice\"]",
        "sub,true",
        "iat,``",
        "iat,null",
        "iat,\"1\"",
        "iat,true",
        "iat,[]",
        "iat,1e400",
        "iat,9e15",
        "exp,``",
        "exp,null",
        "exp,\"9999999999\"",
        "exp,true",
        "exp,{}",
        "exp,1e400",
        "exp,-1",
        "exp,NaN",
        "exp,Infinity",
        "exp,1",
        "nbf,null",
        "nbf,\"1\"",
        "nbf,9e15",
        "nbf,true"
      })
  void aClaimMissingOrWrongOrOfAnotherTypeIsRefused(String name, String json) {
    assertThat(verify(keyring.token())).isEqualTo(ALICE);
    assertThat(withClaim(name, json)).isEqualTo(REFUSED);
  }

  @Test
  void claimsGivenTwiceAreRefused() {
    String claims = JSONObjectUtils.toJSONString(keyring.claims());
    assertThat(withClaims(claims.replaceFirst("\\{", "{\"sub\":\"mallory\","))).isEqualTo(REFUSED);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "null", "[]", "\"text\"", "1"})
  void aSignedPayloadThatIsNoObjectIsRefused(String payload) {
    assertThat(withClaims(payload)).isEqualTo(REFUSED);
  }

  @Test
  void timeIsJudgedWithoutLeeway() {
    assertThat(withClaim("exp", seconds(0.001))).isEqualTo(ALICE);
    assertThat(withClaim("exp", seconds(0))).isEqualTo(REFUSED);
    assertThat(withClaim("exp", seconds(-1))).isEqualTo(REFUSED);
    assertThat(withClaim("nbf", seconds(0))).isEqualTo(ALICE);
    assertThat(withClaim("nbf", seconds(0.5))).isEqualTo(REFUSED);
    assertThat(withClaim("iat", seconds(5))).as("a keyring slightly ahead").isEqualTo(ALICE);
    assertThat(withClaim("iat", seconds(61))).isEqualTo(REFUSED);
  }

  @Test
  void itIsToldWhenATokenEnds() {
    String token = keyring.token();
    for (int times = 0; times < 2; times++) {
      assertThat(client.tokens().verify(token).toCompletableFuture().join().map(Bearer::until))
          .isEqualTo(Result.ok(keyring.now.get().plusSeconds(600)));
    }
    assertThat(withClaim("exp", "1e300")).isEqualTo(ALICE);
  }

  /** There is nothing that a claim could add: who is an operator stands in the settings. */
  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      value = {
        "scope,\"admin *\"",
        "scope,[\"admin\"]",
        "admin,true",
        "roles,[\"operator\"]",
        "account_id,\"operator\"",
        "act,{\"sub\":\"operator\"}",
        "azp,\"operator\""
      })
  void otherClaimsChangeNothing(String name, String json) {
    assertThat(withClaim(name, json)).isEqualTo(ALICE);
  }

  @Test
  void aTokenAcceptedBeforeStillExpires() {
    String token = keyring.token();
    assertThat(verify(token)).isEqualTo(ALICE);
    keyring.pass(Duration.ofSeconds(599));
    assertThat(verify(token)).isEqualTo(ALICE);
    keyring.pass(Duration.ofSeconds(1));
    assertThat(verify(token)).isEqualTo(REFUSED);
    keyring.pass(Duration.ofHours(-1));
    assertThat(verify(token)).as("a clock set back before it was issued").isEqualTo(REFUSED);
  }

  @Test
  void subjectsAreTakenAsTheyAre() {
    assertThat(withClaim("sub", "\"Alice\"")).isEqualTo(Result.ok(new AccountId("Alice")));
    assertThat(withClaim("sub", "\" é/..\"")).isEqualTo(Result.ok(new AccountId(" é/..")));
  }
}
