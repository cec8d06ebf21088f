package io.envapi.app;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.crypto.RSASSAVerifier;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.KeyUse;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import java.text.ParseException;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/** The development keyring's signing key, the tokens it signs and those it accepts back. */
final class DevKeyringTokens {

  private final String issuer;
  private volatile RSAKey key = newKey();

  DevKeyringTokens(String issuer) {
    this.issuer = issuer;
  }

  /** The key set as published: public halves only. */
  Map<String, Object> published() {
    return new JWKSet(key.toPublicJWK()).toJSONObject();
  }

  /** From now on another key is published and signs. */
  void rotate() {
    key = newKey();
  }

  String mint(String account, String audience, String claimedIssuer, Duration ttl) {
    RSAKey signing = key;
    Instant now = Instant.now();
    var token =
        new SignedJWT(
            new JWSHeader.Builder(JWSAlgorithm.RS256).keyID(signing.getKeyID()).build(),
            new JWTClaimsSet.Builder()
                .issuer(claimedIssuer)
                .audience(audience)
                .subject(account)
                .issueTime(Date.from(now))
                .expirationTime(Date.from(now.plus(ttl)))
                .build());
    try {
      token.sign(new RSASSASigner(signing));
    } catch (JOSEException e) {
      throw new IllegalStateException("signing failed", e);
    }
    return token.serialize();
  }

  /**
   * The account of a token signed by the present key and not expired; the audience is not judged.
   */
  Optional<String> accountOf(String text) {
    try {
      SignedJWT token = SignedJWT.parse(text);
      JWTClaimsSet claims = token.getJWTClaimsSet();
      boolean accepted =
          JWSAlgorithm.RS256.equals(token.getHeader().getAlgorithm())
              && token.verify(new RSASSAVerifier(key.toRSAPublicKey()))
              && issuer.equals(claims.getIssuer())
              && claims.getExpirationTime() != null
              && claims.getExpirationTime().toInstant().isAfter(Instant.now());
      return accepted ? Optional.ofNullable(claims.getSubject()) : Optional.empty();
    } catch (ParseException | JOSEException | RuntimeException e) {
      return Optional.empty();
    }
  }

  private static RSAKey newKey() {
    try {
      return new RSAKeyGenerator(2048)
          .keyUse(KeyUse.SIGNATURE)
          .algorithm(JWSAlgorithm.RS256)
          .keyID("dev-" + UUID.randomUUID())
          .generate();
    } catch (JOSEException e) {
      throw new IllegalStateException("no RSA key could be made", e);
    }
  }
}
