package io.envapi.app;

import io.envapi.keyring.Keyring;
import io.envapi.keyring.KeyringSettings;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * A stand-in for the settings service, for development and tests: anybody may set anybody's
 * preferences. It listens on the loopback interface only and forgets everything when it ends.
 */
public final class DevSettings {

  /** What {@code DEV_SETTINGS_TOKEN} is when unset; no secret. */
  public static final String DEFAULT_TOKEN = "dev-settings-api-token-not-a-secret";

  private DevSettings() {}

  public static void main(String[] args) {
    DevProcess.run("dev settings", DevSettings::start, DevSettingsServer::baseUrl);
  }

  private static DevSettingsServer start(Map<String, String> environment) throws IOException {
    String token = DevProcess.token(environment, "DEV_SETTINGS_TOKEN", DEFAULT_TOKEN);
    String keyringUrl =
        environment.getOrDefault("DEV_SETTINGS_KEYRING_URL", "http://127.0.0.1:8001").trim();
    var keyring =
        Keyring.open(
            new KeyringSettings(
                URI.create(keyringUrl),
                environment.getOrDefault("DEV_SETTINGS_KEYRING_ISSUER", keyringUrl).trim(),
                "environments-api",
                Optional.empty(),
                Duration.ofSeconds(5),
                Duration.ofMinutes(5),
                Duration.ofSeconds(1),
                "personal"));
    return DevSettingsServer.start(
        DevProcess.port(environment, "DEV_SETTINGS_PORT", "8002"), token, keyring.tokens());
  }
}
