package io.envapi.http;

import io.envapi.failure.Failure;
import io.envapi.failure.Result;
import io.envapi.keyring.Bearer;
import io.envapi.keyring.Caller;
import io.envapi.keyring.Secret;
import io.envapi.keyring.TokenVerifier;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Lets requests in: first the API key, where keys are set, then the token, then the profile. Every
 * refused token, and every way of not sending one, gets the same answer.
 */
final class Gate {

  /** Who may go on, or the answer to whoever may not. */
  sealed interface Admission {}

  record Admitted(Caller caller) implements Admission {}

  record Denied(Problem problem) implements Admission {}

  private static final int MOST_JUDGED = 1000;

  private static final Pattern BEARER = Pattern.compile("(?i:bearer) +([^ ]+)");

  private final List<byte[]> keyDigests;
  private final TokenVerifier tokens;
  private final String defaultProfile;
  private final Buckets<InetAddress> refusals;
  private final AtomicInteger judging = new AtomicInteger();

  /**
   * @param refusedPerSecond how many tokens of one client address are refused in a second before
   *     others of it are not even looked at; 0 for any number
   */
  Gate(List<String> apiKeys, TokenVerifier tokens, String defaultProfile, int refusedPerSecond) {
    this.keyDigests = apiKeys.stream().map(Gate::digest).toList();
    this.tokens = tokens;
    this.defaultProfile = defaultProfile;
    this.refusals = new Buckets<>(refusedPerSecond, System::nanoTime);
  }

  CompletionStage<Admission> admit(Exchange exchange) {
    if (!holdsKey(exchange.headers("X-API-Key"))) {
      return denied(Problems.apiKeyRefused());
    }
    Optional<String> token = token(exchange);
    if (token.isEmpty()) {
      return denied(Problems.unauthorized());
    }
    return isUnread(exchange.client(), token.get())
        ? denied(Problems.tooManyRefused())
        : judged(exchange.client(), token.get())
            .thenApply(verified -> admit(exchange, token.get(), verified));
  }

  /**
   * Strangers make work that nobody accounts for: so only so many wait for the keys at once, and
   * who was refused too often is not looked at. A token that was accepted before costs nothing.
   */
  private boolean isUnread(Optional<InetAddress> client, String token) {
    boolean late = client.map(refusals::isEmpty).orElse(false) || judging.get() >= MOST_JUDGED;
    return late && !tokens.knows(token);
  }

  private CompletionStage<Result<Bearer>> judged(Optional<InetAddress> client, String token) {
    judging.incrementAndGet();
    return tokens
        .verify(token)
        .whenComplete(
            (verified, failure) -> {
              judging.decrementAndGet();
              if (verified instanceof Result.Refused<Bearer>(Failure.Unauthorized _)) {
                client.ifPresent(refusals::take);
              }
            });
  }

  private Admission admit(Exchange exchange, String token, Result<Bearer> verified) {
    return switch (verified) {
      case Result.Refused<Bearer>(var failure) -> new Denied(Problems.of(failure));
      case Result.Ok<Bearer>(var bearer) ->
          profile(exchange.headers("X-Keyring-Profile"))
              .<Admission>map(
                  profile ->
                      new Admitted(
                          new Caller(bearer.account(), profile, Secret.of(token), bearer.until())))
              .orElseGet(() -> new Denied(badProfile()));
    };
  }

  /** The token of a request; empty unless exactly one was sent, in one of the accepted ways. */
  private static Optional<String> token(Exchange exchange) {
    List<String> current = exchange.headers("Authorization");
    List<String> legacy = exchange.headers("X-Keyring-User-Token");
    if (current.size() > 1 || legacy.size() > 1 || current.size() + legacy.size() == 0) {
      return Optional.empty();
    }
    if (current.isEmpty()) {
      return Optional.of(legacy.getFirst());
    }
    Matcher bearer = BEARER.matcher(current.getFirst());
    if (!bearer.matches()) {
      return Optional.empty();
    }
    String token = bearer.group(1);
    boolean agreed = legacy.isEmpty() || same(digest(token), digest(legacy.getFirst()));
    return agreed ? Optional.of(token) : Optional.empty();
  }

  private Optional<String> profile(List<String> sent) {
    if (sent.size() > 1) {
      return Optional.empty();
    }
    String named = sent.isEmpty() ? "" : sent.getFirst().strip();
    return Optional.of(named.isEmpty() ? defaultProfile : named).filter(Names.PROFILE::matches);
  }

  /** Compares with every key, whatever the first ones gave. */
  private boolean holdsKey(List<String> sent) {
    if (keyDigests.isEmpty()) {
      return true;
    }
    byte[] given = digest(sent.isEmpty() ? "" : sent.getFirst());
    boolean known = false;
    for (byte[] key : keyDigests) {
      known |= same(key, given);
    }
    return known && sent.size() == 1;
  }

  private static Problem badProfile() {
    return Problems.invalid("the profile " + Names.PROFILE.wanted())
        .with("header", "X-Keyring-Profile");
  }

  private static CompletionStage<Admission> denied(Problem problem) {
    return CompletableFuture.completedStage(new Denied(problem));
  }

  private static boolean same(byte[] one, byte[] other) {
    return MessageDigest.isEqual(one, other);
  }

  private static byte[] digest(String text) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }
}
