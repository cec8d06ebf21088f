package io.envapi.keyring;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSVerifier;
import com.nimbusds.jose.crypto.RSASSAVerifier;
import com.nimbusds.jose.jwk.KeyOperation;
import com.nimbusds.jose.jwk.KeyUse;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.util.JSONObjectUtils;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.text.ParseException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * One published key set, reduced to what may verify a token: RSA keys of 2048 bits or more with a
 * {@code kid}, not reserved for another use or algorithm. With it go the tokens it has verified, so
 * that no acceptance outlives the keys it rests on.
 */
final class KeySet {

  private static final int MIN_BITS = 2048;

  private final Map<String, JWSVerifier> byId;
  private final VerifiedTokens verified = new VerifiedTokens();

  private KeySet(Map<String, JWSVerifier> byId) {
    this.byId = Map.copyOf(byId);
  }

  /**
   * Reads a JWKS answer (RFC 7517 section 5); an unusable key is left out, an unusable answer
   * thrown.
   */
  static KeySet read(HttpResponse<byte[]> answer) {
    if (answer.statusCode() != 200) {
      throw new IllegalStateException("status " + answer.statusCode());
    }
    return parse(new String(answer.body(), StandardCharsets.UTF_8));
  }

  static KeySet parse(String json) {
    List<Map<String, Object>> keys;
    try {
      keys = List.of(JSONObjectUtils.getJSONObjectArray(JSONObjectUtils.parse(json), "keys"));
    } catch (ParseException | RuntimeException e) {
      throw new IllegalStateException("no key set", e);
    }
    var usable = new HashMap<String, JWSVerifier>();
    for (Map<String, Object> each : keys) {
      usable(each).ifPresent(key -> usable.putIfAbsent(key.getKeyID(), verifier(key)));
    }
    return new KeySet(usable);
  }

  private static Optional<RSAKey> usable(Map<String, Object> json) {
    try {
      RSAKey key = RSAKey.parse(json);
      boolean fits =
          key.getKeyID() != null
              && !key.getKeyID().isEmpty()
              && key.size() >= MIN_BITS
              && (key.getKeyUse() == null || KeyUse.SIGNATURE.equals(key.getKeyUse()))
              && (key.getAlgorithm() == null || JWSAlgorithm.RS256.equals(key.getAlgorithm()))
              && (key.getKeyOperations() == null
                  || key.getKeyOperations().contains(KeyOperation.VERIFY));
      return fits ? Optional.of(key) : Optional.empty();
    } catch (ParseException | RuntimeException e) {
      // Of another kind or malformed: the others in the set are still good.
      return Optional.empty();
    }
  }

  private static JWSVerifier verifier(RSAKey key) {
    try {
      return new RSASSAVerifier(key.toRSAPublicKey());
    } catch (JOSEException e) {
      throw new IllegalStateException("key of no use", e);
    }
  }

  Optional<JWSVerifier> verifier(String kid) {
    return Optional.ofNullable(byId.get(kid));
  }

  boolean has(String kid) {
    return byId.containsKey(kid);
  }

  boolean isEmpty() {
    return byId.isEmpty();
  }

  VerifiedTokens verified() {
    return verified;
  }
}
