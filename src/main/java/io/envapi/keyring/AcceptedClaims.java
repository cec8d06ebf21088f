package io.envapi.keyring;

import io.envapi.id.AccountId;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;

/**
 * The claims of a token that are the right ones in the right types (RFC 7519 section 4.1); whether
 * it is their time is a question of its own. Times are in seconds since the epoch.
 */
record AcceptedClaims(AccountId account, double issuedAt, double notBefore, double expires) {

  /** A keyring whose clock is a little ahead still counts; one from tomorrow does not. */
  private static final double ISSUED_AHEAD_SECONDS = 60;

  /**
   * Ends later than any service will run; what an {@link Instant} can hold is less than a claim.
   */
  private static final Instant LATEST = Instant.parse("9999-12-31T23:59:59Z");

  static Optional<AcceptedClaims> of(Map<String, Object> claims, String issuer, String audience) {
    OptionalDouble issuedAt = seconds(claims.get("iat"));
    OptionalDouble expires = seconds(claims.get("exp"));
    boolean startsAtOnce = !claims.containsKey("nbf");
    OptionalDouble notBefore =
        startsAtOnce ? OptionalDouble.of(Double.NEGATIVE_INFINITY) : seconds(claims.get("nbf"));
    if (issuer.equals(claims.get("iss"))
        && audience.equals(claims.get("aud"))
        && claims.get("sub") instanceof String subject
        && !subject.isEmpty()
        && issuedAt.isPresent()
        && expires.isPresent()
        && notBefore.isPresent()) {
      return Optional.of(
          new AcceptedClaims(
              new AccountId(subject),
              issuedAt.getAsDouble(),
              notBefore.getAsDouble(),
              expires.getAsDouble()));
    }
    return Optional.empty();
  }

  Bearer bearer() {
    double end = Math.min(expires * 1000, (double) LATEST.toEpochMilli());
    return new Bearer(account, Instant.ofEpochMilli((long) end));
  }

  /** Expiry and start are judged without leeway. */
  boolean holdAt(Instant instant) {
    double now = instant.getEpochSecond() + instant.getNano() / 1e9;
    return now < expires && notBefore <= now && issuedAt <= now + ISSUED_AHEAD_SECONDS;
  }

  private static OptionalDouble seconds(@Nullable Object claim) {
    return claim instanceof Number number && Double.isFinite(number.doubleValue())
        ? OptionalDouble.of(number.doubleValue())
        : OptionalDouble.empty();
  }
}
