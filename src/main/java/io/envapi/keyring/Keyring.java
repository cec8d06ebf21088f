package io.envapi.keyring;

import java.time.InstantSource;
import java.util.Map;
import java.util.function.LongSupplier;

/** The connection to one keyring: its tokens and its credentials, over one HTTP client. */
public final class Keyring implements AutoCloseable {

  private final ServiceHttp http;
  private final TokenVerifier tokens;
  private final CredentialClient credentials;

  private Keyring(KeyringSettings settings, InstantSource clock, LongSupplier nanos) {
    this.http = new ServiceHttp(settings.baseUrl(), settings.timeout());
    var keys =
        new SigningKeys(
            () -> http.get("/.well-known/jwks.json", Map.of()).thenApply(KeySet::read),
            settings.jwksCache(),
            settings.jwksMinRefetch(),
            nanos);
    this.tokens = new TokenVerifier(keys, settings.issuer(), settings.serviceName(), clock);
    this.credentials = new CredentialClient(http, settings.serviceToken());
  }

  /** Nothing is fetched until the first token comes. */
  public static Keyring open(KeyringSettings settings) {
    return new Keyring(settings, InstantSource.system(), System::nanoTime);
  }

  /**
   * With clocks of the caller's choice.
   *
   * @param clock judges a token's expiry
   * @param nanos measures the age of keys; monotonic, so that a stepped clock cannot hold back a
   *     fetch
   */
  static Keyring open(KeyringSettings settings, InstantSource clock, LongSupplier nanos) {
    return new Keyring(settings, clock, nanos);
  }

  public TokenVerifier tokens() {
    return tokens;
  }

  public CredentialClient credentials() {
    return credentials;
  }

  @Override
  public void close() {
    http.close();
  }
}
