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

  private static final int MIN_TOKEN_CHARS = 32;

  private DevSettings() {}

  public static void main(String[] args) {
    try {
      DevSettingsServer server = start(System.getenv());
      Runtime.getRuntime()
          .addShutdownHook(
              Thread.ofPlatform()
                  .unstarted(
                      () -> {
                        server.close();
                        // Otherwise the exit status would be the signal's, 143.
                        Runtime.getRuntime().halt(0);
                      }));
      System.err.println("dev settings: listening on " + server.baseUrl() + " (development only)");
    } catch (IOException | IllegalArgumentException e) {
      System.err.println("dev settings: " + e.getMessage());
      System.exit(1);
    }
  }

  private static DevSettingsServer start(Map<String, String> environment) throws IOException {
    String token = environment.getOrDefault("DEV_SETTINGS_TOKEN", DEFAULT_TOKEN).trim();
    if (token.length() < MIN_TOKEN_CHARS) {
      throw new IllegalArgumentException("DEV_SETTINGS_TOKEN needs 32 characters or more");
    }
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
        port(environment.getOrDefault("DEV_SETTINGS_PORT", "8002")), token, keyring.tokens());
  }

  private static int port(String text) {
    try {
      int port = Integer.parseInt(text.trim());
      if (port >= 0 && port <= 65_535) {
        return port;
      }
    } catch (NumberFormatException e) {
      // Falls through to the one message.
    }
    throw new IllegalArgumentException("DEV_SETTINGS_PORT is no port number");
  }
}
