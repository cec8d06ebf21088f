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

  private DevKeyring() {}

  public static void main(String[] args) {
    DevProcess.run("dev keyring", DevKeyring::start, DevKeyringServer::baseUrl);
  }

  static DevKeyringServer start(Map<String, String> environment) throws IOException {
    String serviceToken =
        DevProcess.token(environment, "DEV_KEYRING_SERVICE_TOKEN", DEFAULT_SERVICE_TOKEN);
    String issuer = environment.getOrDefault("DEV_KEYRING_ISSUER", "http://127.0.0.1:8001").trim();
    return DevKeyringServer.start(
        DevProcess.port(environment, "DEV_KEYRING_PORT", "8001"), issuer, serviceToken);
  }
}
