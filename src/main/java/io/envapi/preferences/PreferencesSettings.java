package io.envapi.preferences;

import com.typesafe.config.Config;
import io.envapi.keyring.Secret;
import java.net.URI;
import java.time.Duration;
import java.util.Optional;

/**
 * How to reach the settings service.
 *
 * @param baseUrl where its routes begin
 * @param token what this service shows it
 * @param timeout for a whole exchange; the one of calls to the keyring
 */
public record PreferencesSettings(URI baseUrl, Secret token, Duration timeout) {

  private static final int MIN_TOKEN_CHARS = 32;

  public PreferencesSettings {
    if (token.reveal().length() < MIN_TOKEN_CHARS || !timeout.isPositive()) {
      throw new IllegalArgumentException("settings-api.token or its timeout is too short");
    }
  }

  /** Reads the {@code settings-api} section; empty when it is off. */
  public static Optional<PreferencesSettings> from(Config envapi) {
    String url = envapi.getString("settings-api.base-url").trim();
    String token = envapi.getString("settings-api.token").trim();
    if (url.isEmpty() || token.isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(
        new PreferencesSettings(
            URI.create(url), Secret.of(token), envapi.getDuration("keyring.timeout")));
  }
}
