package io.envapi.preferences;

import io.envapi.failure.Failure;
import io.envapi.failure.Result;
import io.envapi.id.AccountId;
import io.envapi.keyring.Caller;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/**
 * What each person chose, within what the deployment allows.
 *
 * <p>An answer serves for a short time without a question, and through an outage for longer. A
 * person whose answer was never had gets the deployment's values, except for the default profile:
 * guessing that would act for the wrong one. A refusal is no outage, and is never covered up.
 */
public final class Preferences implements AutoCloseable {

  static final String PROFILE_UNKNOWN =
      "the default profile could not be read from the settings service: name one in"
          + " X-Keyring-Profile, or try again shortly";
  static final String REJECTED = "the settings service refused to tell this service your settings";

  private static final Duration FRESH = Duration.ofSeconds(30);
  private static final Duration STALE = Duration.ofHours(1);
  private static final int MOST_HELD = 4096;

  /**
   * The account is verified before anybody asks, so it can stand for the token: tokens change every
   * few minutes.
   */
  private record Key(AccountId account, Optional<String> profile) {}

  private record Held(Document document, long at) {}

  private final Optional<PreferencesClient> client;
  private final String defaultProfile;
  private final LongSupplier nanos;
  private final Map<Key, CompletableFuture<PreferencesClient.Reply>> asking =
      new ConcurrentHashMap<>();
  private final Map<Key, Held> held =
      new LinkedHashMap<>(64, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Key, Held> eldest) {
          return size() > MOST_HELD;
        }
      };

  private Preferences(
      Optional<PreferencesSettings> settings, String defaultProfile, LongSupplier nanos) {
    this.client = settings.map(PreferencesClient::new);
    this.defaultProfile = defaultProfile;
    this.nanos = nanos;
  }

  /**
   * Nothing is fetched until somebody's are wanted.
   *
   * @param settings empty: everybody has the deployment's values
   * @param defaultProfile of the deployment
   */
  public static Preferences open(Optional<PreferencesSettings> settings, String defaultProfile) {
    return new Preferences(settings, defaultProfile, System::nanoTime);
  }

  static Preferences open(
      Optional<PreferencesSettings> settings, String defaultProfile, LongSupplier nanos) {
    return new Preferences(settings, defaultProfile, nanos);
  }

  /**
   * What holds for a request.
   *
   * @param named the profile that the request names
   */
  public CompletionStage<Result<Chosen>> of(Caller caller, Optional<String> named) {
    if (client.isEmpty()) {
      return CompletableFuture.completedStage(
          Result.ok(Chosen.nothing(false, named.orElse(defaultProfile))));
    }
    PreferencesClient service = client.get();
    if (named.isPresent()) {
      return inProfile(service, caller, named.get());
    }
    return read(service, caller, Optional.empty())
        .thenCompose(
            reply ->
                switch (reply) {
                  case PreferencesClient.Read(var document) ->
                      inProfile(service, caller, document.defaultProfile().orElse(defaultProfile));
                  case PreferencesClient.Rejected() -> refused(REJECTED);
                  case PreferencesClient.Unreachable() -> refused(PROFILE_UNKNOWN);
                });
  }

  private CompletionStage<Result<Chosen>> inProfile(
      PreferencesClient service, Caller caller, String profile) {
    return read(service, caller, Optional.of(profile))
        .thenCompose(
            reply ->
                switch (reply) {
                  case PreferencesClient.Read(var document) ->
                      CompletableFuture.completedStage(Result.ok(document.chosen(profile)));
                  case PreferencesClient.Rejected() -> refused(REJECTED);
                  case PreferencesClient.Unreachable() ->
                      CompletableFuture.completedStage(Result.ok(Chosen.nothing(true, profile)));
                });
  }

  /** What is held while it is fresh, or when nothing newer can be had; many share one question. */
  private CompletionStage<PreferencesClient.Reply> read(
      PreferencesClient service, Caller caller, Optional<String> profile) {
    var key = new Key(caller.account(), profile);
    Optional<PreferencesClient.Reply> fresh = held(key, FRESH);
    if (fresh.isPresent()) {
      return CompletableFuture.completedStage(fresh.get());
    }
    var mine = new CompletableFuture<PreferencesClient.Reply>();
    CompletableFuture<PreferencesClient.Reply> others = asking.putIfAbsent(key, mine);
    if (others != null) {
      return others;
    }
    service
        .ask(caller, profile)
        .thenApply(reply -> settle(key, reply))
        .whenComplete(
            (reply, failure) -> {
              asking.remove(key, mine);
              mine.complete(failure == null ? reply : new PreferencesClient.Unreachable());
            });
    return mine;
  }

  private PreferencesClient.Reply settle(Key key, PreferencesClient.Reply reply) {
    return switch (reply) {
      case PreferencesClient.Read(var document) -> {
        synchronized (held) {
          held.put(key, new Held(document, nanos.getAsLong()));
        }
        yield reply;
      }
      case PreferencesClient.Rejected() -> {
        synchronized (held) {
          held.remove(key);
        }
        yield reply;
      }
      case PreferencesClient.Unreachable() -> held(key, STALE).orElse(reply);
    };
  }

  private Optional<PreferencesClient.Reply> held(Key key, Duration within) {
    synchronized (held) {
      Held entry = held.get(key);
      return entry == null || nanos.getAsLong() - entry.at() > within.toNanos()
          ? Optional.empty()
          : Optional.of(new PreferencesClient.Read(entry.document()));
    }
  }

  private static CompletionStage<Result<Chosen>> refused(String why) {
    return CompletableFuture.completedStage(
        Result.refused(new Failure.PreferencesUnavailable(why)));
  }

  @Override
  public void close() {
    client.ifPresent(PreferencesClient::close);
  }
}
