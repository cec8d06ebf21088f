package io.envapi.keyring;

import static io.envapi.keyring.KeyringAtHand.KEY;
import static io.envapi.keyring.KeyringAtHand.OTHER_KEY;
import static io.envapi.keyring.KeyringAtHand.header;
import static io.envapi.keyring.KeyringAtHand.sign;
import static org.assertj.core.api.Assertions.assertThat;

import com.nimbusds.jose.EncryptionMethod;
import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWEAlgorithm;
import com.nimbusds.jose.JWEHeader;
import com.nimbusds.jose.JWEObject;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.Payload;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jose.crypto.RSAEncrypter;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.KeyUse;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jose.util.Base64URL;
import com.nimbusds.jose.util.JSONObjectUtils;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.PlainJWT;
import com.nimbusds.jwt.SignedJWT;
import io.envapi.failure.Failure;
import io.envapi.failure.Result;
import io.envapi.id.AccountId;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.text.ParseException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TokenVerifierTest {

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

  @Test
  void aGoodTokenNamesItsAccountAgainAndAgain() {
    assertThat(verify(keyring.token())).isEqualTo(ALICE);
    assertThat(verify(keyring.token())).isEqualTo(ALICE);
    assertThat(keyring.requests).hasValue(1);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "garbage",
        ".",
        "..",
        "...",
        "a.b.c",
        "e30.e30.",
        "e30.e30.e30",
        "e30.e30.e30.e30",
        "e30.e30.e30.e30.e30",
        "eyJhbGciOiJub25lIn0.e30.",
        " ",
        "\u0000.\u0000.\u0000",
        "é.é.é",
        "W10.W10.W10",
        "bnVsbA.bnVsbA.bnVsbA"
      })
  void whatIsNoTokenIsRefusedWithoutAFetch(String token) {
    assertThat(verify(token)).isEqualTo(REFUSED);
    assertThat(keyring.requests).hasValue(0);
  }

  @ParameterizedTest
  @ValueSource(strings = {"\n", "=", " ", "!", "\u0000", "é", "."})
  void aGoodTokenWithSomethingBesideItIsRefused(String beside) {
    String token = keyring.token();
    assertThat(verify(token + beside)).isEqualTo(REFUSED);
    assertThat(verify(beside + token)).isEqualTo(REFUSED);
    assertThat(verify(token.replaceFirst("\\.", beside + "."))).isEqualTo(REFUSED);
    assertThat(verify(token)).isEqualTo(ALICE);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "none", "None", "NONE", "nOnE", "HS256", "RS384", "PS256", "ES256", "EdDSA", "rs256", ""
      })
  void otherAlgorithmsAreRefusedWhateverTheSignature(String alg) {
    String header = JSONObjectUtils.toJSONString(Map.of("alg", alg, "kid", "key-1"));
    String token = sign(KEY, header, JSONObjectUtils.toJSONString(keyring.claims()));
    assertThat(verify(token)).isEqualTo(REFUSED);
    assertThat(verify(token.substring(0, token.lastIndexOf('.') + 1))).isEqualTo(REFUSED);
  }

  @Test
  void signaturesOfOtherAlgorithmsAreRefusedThoughTheyAreTrue()
      throws JOSEException, ParseException {
    var claims = JWTClaimsSet.parse(keyring.claims());
    for (JWSAlgorithm alg : List.of(JWSAlgorithm.RS384, JWSAlgorithm.RS512, JWSAlgorithm.PS256)) {
      var jwt = new SignedJWT(new JWSHeader.Builder(alg).keyID("key-1").build(), claims);
      jwt.sign(new RSASSASigner(KEY));
      assertThat(verify(jwt.serialize())).as(alg.getName()).isEqualTo(REFUSED);
    }
    var curve = new ECKeyGenerator(Curve.P_256).keyID("key-1").generate();
    keyring.publish(curve, OTHER_KEY);
    var jwt =
        new SignedJWT(new JWSHeader.Builder(JWSAlgorithm.ES256).keyID("key-1").build(), claims);
    jwt.sign(new ECDSASigner(curve));
    assertThat(verify(jwt.serialize())).isEqualTo(REFUSED);
  }

  /** The numbers r and s of an ECDSA signature are never zero; a verifier that forgets accepts. */
  @Test
  void aSignatureOfZerosIsRefusedForACurveToo() throws JOSEException {
    keyring.publish(new ECKeyGenerator(Curve.P_256).keyID("key-1").generate(), OTHER_KEY);
    String claims = JSONObjectUtils.toJSONString(keyring.claims());
    for (String alg : List.of("ES256", "RS256")) {
      String signed =
          Base64URL.encode("{\"alg\":\"" + alg + "\",\"kid\":\"key-1\"}")
              + "."
              + Base64URL.encode(claims);
      assertThat(verify(signed + "." + Base64URL.encode(new byte[64]))).isEqualTo(REFUSED);
    }
  }

  /** Whoever knows the public key can encrypt; that says nothing of who wrote what is inside. */
  @Test
  void anEncryptedTokenIsRefusedWhateverIsInside() throws JOSEException, ParseException {
    var claims = JWTClaimsSet.parse(keyring.claims());
    for (Payload inside :
        List.of(new Payload(new PlainJWT(claims).serialize()), new Payload(keyring.token()))) {
      var header =
          new JWEHeader.Builder(JWEAlgorithm.RSA_OAEP_256, EncryptionMethod.A128GCM)
              .keyID("key-1")
              .contentType("JWT")
              .build();
      var jwe = new JWEObject(header, inside);
      jwe.encrypt(new RSAEncrypter(KEY));
      assertThat(verify(jwe.serialize())).isEqualTo(REFUSED);
    }
    assertThat(keyring.requests).hasValue(0);
  }

  @Test
  void thePublicKeyIsNoSharedSecret() throws JOSEException, ParseException {
    byte[] der = KEY.toRSAPublicKey().getEncoded();
    String pem =
        "-----BEGIN PUBLIC KEY-----\n"
            + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der)
            + "\n-----END PUBLIC KEY-----\n";
    var keys =
        List.of(
            der,
            pem.getBytes(StandardCharsets.UTF_8),
            pem.strip().getBytes(StandardCharsets.UTF_8),
            KEY.getModulus().decode(),
            KEY.getModulus().toString().getBytes(StandardCharsets.UTF_8),
            KEY.toPublicJWK().toJSONString().getBytes(StandardCharsets.UTF_8));
    for (byte[] key : keys) {
      var header = new JWSHeader.Builder(JWSAlgorithm.HS256).keyID("key-1").build();
      var jwt = new SignedJWT(header, JWTClaimsSet.parse(keyring.claims()));
      jwt.sign(new MACSigner(key));
      assertThat(verify(jwt.serialize())).isEqualTo(REFUSED);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"alg\":\"RS256\"}",
        "{\"alg\":\"RS256\",\"kid\":\"\"}",
        "{\"alg\":\"RS256\",\"kid\":null}",
        "{\"alg\":\"RS256\",\"kid\":1}",
        "{\"alg\":\"RS256\",\"kid\":[\"key-1\"]}",
        "{\"alg\":\"RS256\",\"kid\":\"../../dev/null\"}",
        "{\"alg\":\"RS256\",\"kid\":\"' OR 1=1 --\"}",
        "{\"alg\":\"RS256\",\"kid\":\"KEY-1\"}",
        "{\"alg\":\"RS256\",\"kid\":\"key-1 \"}",
        "{\"alg\":\"RS256\",\"kid\":\"k\u0435y-1\"}",
        "{\"alg\":\"RS256\",\"kid\":\"key-1\",\"kid\":\"key-1\"}",
        "{\"alg\":\"RS256\",\"alg\":\"RS256\",\"kid\":\"key-1\"}",
        "{\"alg\":[\"RS256\"],\"kid\":\"key-1\"}",
        "{\"alg\":null,\"kid\":\"key-1\"}",
        "{\"kid\":\"key-1\"}",
        "{\"alg\":\"RS256\",\"kid\":\"key-1\",\"crit\":[\"exp\"],\"exp\":1}",
        "{\"alg\":\"RS256\",\"kid\":\"key-1\",\"b64\":false,\"crit\":[\"b64\"]}",
        "{\"alg\":\"RS256\",\"kid\":\"key-1\"} trailing",
        "[]",
        "\"RS256\""
      })
  void headersThatNameNoPublishedKeyPlainlyAreRefused(String header) {
    verify(keyring.token());
    assertThat(verify(sign(KEY, header, JSONObjectUtils.toJSONString(keyring.claims()))))
        .isEqualTo(REFUSED);
  }

  @Test
  void deepAndLongTokensAreRefusedQuietly() {
    String deep =
        "{\"alg\":\"RS256\",\"kid\":\"key-1\",\"x\":" + "[".repeat(6000) + "]".repeat(5900) + "}";
    assertThat(verify(sign(KEY, deep, "{}"))).isEqualTo(REFUSED);
    String kid = "{\"alg\":\"RS256\",\"kid\":\"" + "k".repeat(1 << 20) + "\"}";
    assertThat(verify(sign(KEY, kid, "{}"))).isEqualTo(REFUSED);
    assertThat(keyring.requests).hasValue(0);
    assertThat(verify(sign(KEY, header("key-1"), "[".repeat(6000)))).isEqualTo(REFUSED);
    Map<String, Object> claims = keyring.claims();
    claims.put("padding", "p".repeat(TokenVerifier.MAX_TOKEN_CHARS));
    assertThat(verify(KeyringAtHand.token(KEY, claims))).isEqualTo(REFUSED);
  }

  @Test
  void keysAndAddressesInATokenAreIgnored() {
    String address = keyring.url() + "/evil";
    String header =
        JSONObjectUtils.toJSONString(
            Map.of(
                "alg",
                "RS256",
                "kid",
                "key-1",
                "jku",
                address,
                "x5u",
                address,
                "jwk",
                OTHER_KEY.toPublicJWK().toJSONObject()));
    String claims = JSONObjectUtils.toJSONString(keyring.claims());
    assertThat(verify(sign(OTHER_KEY, header, claims))).isEqualTo(REFUSED);
    assertThat(keyring.requests).as("the key set and nothing else").hasValue(1);
  }

  @Test
  void aTokenThatWasChangedIsRefused() {
    String[] parts = keyring.token().split("\\.");
    Map<String, Object> claims = keyring.claims();
    claims.put("sub", "mallory");
    String payload = Base64URL.encode(JSONObjectUtils.toJSONString(claims)).toString();
    assertThat(verify(parts[0] + "." + payload + "." + parts[2])).isEqualTo(REFUSED);
    String zeros = Base64URL.encode(new byte[256]).toString();
    assertThat(verify(parts[0] + "." + parts[1] + "." + zeros)).isEqualTo(REFUSED);
    byte[] signature = new Base64URL(parts[2]).decode();
    String shortened = Base64URL.encode(Arrays.copyOf(signature, 255)).toString();
    assertThat(verify(parts[0] + "." + parts[1] + "." + shortened)).isEqualTo(REFUSED);
    assertThat(verify(KeyringAtHand.token(renamed("key-1"), keyring.claims()))).isEqualTo(REFUSED);
  }

  /** The last character of 256 bytes has four bits that mean nothing. */
  @Test
  void oneTokenIsOneText() {
    String token = keyring.token();
    String alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    for (char last : alphabet.toCharArray()) {
      String other = token.substring(0, token.length() - 1) + last;
      assertThat(verify(other)).as("%s", last).isEqualTo(other.equals(token) ? ALICE : REFUSED);
    }
  }

  @Test
  void claimsThatAreNoTextAreRefused() throws JOSEException {
    String header = "{\"alg\":\"RS256\",\"kid\":\"key-1\"}";
    Map<String, Object> claims = keyring.claims();
    claims.put("sub", "a?");
    byte[] payload = JSONObjectUtils.toJSONString(claims).getBytes(StandardCharsets.UTF_8);
    int at = new String(payload, StandardCharsets.ISO_8859_1).indexOf("a?");
    assertThat(verify(signed(header, payload)).getClass()).isEqualTo(Result.Ok.class);
    payload[at + 1] = (byte) 0xFF;
    assertThat(verify(signed(header, payload))).isEqualTo(REFUSED);
  }

  private static String signed(String header, byte[] payload) throws JOSEException {
    String input = Base64URL.encode(header) + "." + Base64URL.encode(payload);
    Base64URL signature =
        new RSASSASigner(KEY)
            .sign(
                new JWSHeader.Builder(JWSAlgorithm.RS256).keyID("key-1").build(),
                input.getBytes(StandardCharsets.US_ASCII));
    return input + "." + signature;
  }

  private static RSAKey renamed(String kid) {
    return new RSAKey.Builder(OTHER_KEY).keyID(kid).build();
  }

  @Test
  void keysThatMayNotSignAreOfNoUse() {
    var tiny = KeyringAtHand.key("tiny", 512);
    var small = KeyringAtHand.key("small", 1024);
    var encrypting = new RSAKey.Builder(OTHER_KEY).keyID("enc").keyUse(KeyUse.ENCRYPTION).build();
    var other = new RSAKey.Builder(OTHER_KEY).keyID("rs384").algorithm(JWSAlgorithm.RS384).build();
    var fits =
        new RSAKey.Builder(OTHER_KEY)
            .keyID("fits")
            .keyUse(KeyUse.SIGNATURE)
            .algorithm(JWSAlgorithm.RS256)
            .build();
    keyring.publish(tiny, small, encrypting, other, fits);
    assertThat(verify(KeyringAtHand.token(fits, keyring.claims()))).isEqualTo(ALICE);
    for (RSAKey key : List.of(tiny, small, encrypting, other)) {
      assertThat(verify(KeyringAtHand.token(key, keyring.claims())))
          .as(key.getKeyID())
          .isEqualTo(REFUSED);
    }
  }

  @Test
  void oneMalformedKeyDoesNotSpoilTheSet() {
    String good = KEY.toPublicJWK().toJSONString();
    keyring.answer(
        200,
        "{\"keys\":[{},{\"kty\":\"RSA\",\"kid\":\"x\",\"n\":\"!\"},{\"kty\":\"what\"},"
            + good
            + "]}");
    assertThat(verify(keyring.token())).isEqualTo(ALICE);
  }
}
