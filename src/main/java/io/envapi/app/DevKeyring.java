package io.envapi.app;

import java.io.IOException;
import java.util.Map;

/**
 * A stand-in for the keyring, for development and tests: it gives anybody a token for any account.
 * It listens on the loopback interface only and forgets everything when it ends.
 */
public final class DevKeyring {

  /** What {@code DEV_KEYRING_SERVICE_TOKEN} is when unset; no secret. */
  public static final String DEFAULT_SERVICE_TOKEN = "dev-keyring-service-token-not-a-secret";

  private static final int MIN_SERVICE_TOKEN_CHARS = 32;

  private DevKeyring() {}

  public static void main(String[] args) {
    try {
      var server = start(System.getenv());
      Runtime.getRuntime()
          .addShutdownHook(
              Thread.ofPlatform()
                  .unstarted(
                      () -> {
                        server.close();
                        // Otherwise the exit status would be the signal's, 143.
                        Runtime.getRuntime().halt(0);
                      }));
      System.err.println("dev keyring: listening on " + server.baseUrl() + " (development only)");
    } catch (IOException | IllegalArgumentException e) {
      System.err.println("dev keyring: " + e.getMessage());
      System.exit(1);
    }
  }

  static DevKeyringServer start(Map<String, String> environment) throws IOException {
    String serviceToken =
        environment.getOrDefault("DEV_KEYRING_SERVICE_TOKEN", DEFAULT_SERVICE_TOKEN).trim();
    if (serviceToken.length() < MIN_SERVICE_TOKEN_CHARS) {
      throw new IllegalArgumentException("DEV_KEYRING_SERVICE_TOKEN needs 32 characters or more");
    }
    String issuer = environment.getOrDefault("DEV_KEYRING_ISSUER", "http://127.0.0.1:8001").trim();
    return DevKeyringServer.start(
        port(environment.getOrDefault("DEV_KEYRING_PORT", "8001")), issuer, serviceToken);
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
    throw new IllegalArgumentException("DEV_KEYRING_PORT is no port number");
  }
}
