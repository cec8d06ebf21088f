package io.envapi.keyring;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSObject;
import com.nimbusds.jose.JWSVerifier;
import com.nimbusds.jose.util.Base64URL;
import com.nimbusds.jose.util.JSONObjectUtils;
import io.envapi.failure.Failure;
import io.envapi.failure.Result;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.text.ParseException;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.regex.Pattern;

/**
 * Finds out whose token a request carries: RS256 with a published key, for this service, by this
 * keyring, in its time (RFC 7519, RFC 8725). Every token that is not accepted gets the same
 * refusal; no address in a token is ever followed, and no key in one is ever used.
 *
 * <p>Safe for use by several threads. Answers at once unless keys have to be fetched.
 */
public final class TokenVerifier {

  /** Larger than any honest token by far; a longer one is refused unread. */
  static final int MAX_TOKEN_CHARS = 16 * 1024;

  // Nimbus skips characters that are no base64url; here they refuse the token.
  private static final Pattern COMPACT_JWS =
      Pattern.compile("[A-Za-z0-9_-]++\\.[A-Za-z0-9_-]++\\.[A-Za-z0-9_-]++");

  private final SigningKeys keys;
  private final String issuer;
  private final String audience;
  private final InstantSource clock;

  TokenVerifier(SigningKeys keys, String issuer, String audience, InstantSource clock) {
    this.keys = keys;
    this.issuer = issuer;
    this.audience = audience;
    this.clock = clock;
  }

  /**
   * Whose token it is, and until when. Refused with {@link Failure.Unauthorized} when the token is
   * not accepted, and with {@link Failure.KeyringUnavailable} when no key is to be had to judge it
   * by.
   */
  public CompletionStage<Result<Bearer>> verify(String token) {
    if (token.length() > MAX_TOKEN_CHARS || !COMPACT_JWS.matcher(token).matches()) {
      return CompletableFuture.completedFuture(unauthorized());
    }
    ByteBuffer digest = VerifiedTokens.digest(token);
    Optional<AcceptedClaims> known = keys.fresh().flatMap(held -> held.verified().find(digest));
    if (known.isPresent()) {
      return CompletableFuture.completedFuture(inTime(known));
    }
    Optional<JWSObject> parsed = parse(token);
    if (parsed.isEmpty()) {
      return CompletableFuture.completedFuture(unauthorized());
    }
    JWSObject jws = parsed.get();
    return keys.judging(jws.getHeader().getKeyID())
        .thenApply(judging -> judging.then(held -> judge(jws, digest, held)));
  }

  /** Whether the token was accepted before and need not be judged again; its time may be over. */
  public boolean knows(String token) {
    return token.length() <= MAX_TOKEN_CHARS
        && keys.fresh()
            .flatMap(held -> held.verified().find(VerifiedTokens.digest(token)))
            .isPresent();
  }

  /**
   * Whether tokens can be verified; asks the keyring when that is in doubt and not asked lately.
   */
  public CompletionStage<KeyringStatus> status() {
    return keys.status();
  }

  private Result<Bearer> judge(JWSObject jws, ByteBuffer digest, KeySet held) {
    boolean signed =
        held.verifier(jws.getHeader().getKeyID()).map(key -> isSignedBy(key, jws)).orElse(false);
    Optional<AcceptedClaims> claims = signed ? claims(jws) : Optional.empty();
    Result<Bearer> result = inTime(claims);
    if (result instanceof Result.Ok) {
      claims.ifPresent(accepted -> held.verified().add(digest, accepted));
    }
    return result;
  }

  private Result<Bearer> inTime(Optional<AcceptedClaims> claims) {
    return claims
        .filter(accepted -> accepted.holdAt(clock.instant()))
        .map(accepted -> Result.ok(accepted.bearer()))
        .orElseGet(TokenVerifier::unauthorized);
  }

  private static Optional<JWSObject> parse(String token) {
    try {
      JWSObject jws = JWSObject.parse(token);
      var header = jws.getHeader();
      boolean fits =
          Arrays.stream(jws.getParsedParts()).allMatch(TokenVerifier::isExact)
              && isText(header.toBase64URL())
              && isText(jws.getPayload().toBase64URL())
              && JWSAlgorithm.RS256.equals(header.getAlgorithm())
              && header.getKeyID() != null
              && header.isBase64URLEncodePayload();
      return fits ? Optional.of(jws) : Optional.empty();
    } catch (ParseException | RuntimeException e) {
      // Whatever a stranger's bytes do to the parser, the token is not accepted.
      return Optional.empty();
    }
  }

  /** Some characters of base64 carry bits that are not used, so one token could be many texts. */
  private static boolean isExact(Base64URL part) {
    return Base64URL.encode(part.decode()).equals(part);
  }

  /** Whether it is UTF-8: what is not would become the same text as something else. */
  private static boolean isText(Base64URL part) {
    byte[] bytes = part.decode();
    return Arrays.equals(
        new String(bytes, StandardCharsets.UTF_8).getBytes(StandardCharsets.UTF_8), bytes);
  }

  private static boolean isSignedBy(JWSVerifier key, JWSObject jws) {
    try {
      return jws.verify(key);
    } catch (JOSEException e) {
      return false;
    }
  }

  private Optional<AcceptedClaims> claims(JWSObject jws) {
    try {
      var claims = JSONObjectUtils.parse(jws.getPayload().toString());
      return AcceptedClaims.of(claims, issuer, audience);
    } catch (ParseException | RuntimeException e) {
      return Optional.empty();
    }
  }

  private static Result<Bearer> unauthorized() {
    return Result.refused(new Failure.Unauthorized());
  }
}
