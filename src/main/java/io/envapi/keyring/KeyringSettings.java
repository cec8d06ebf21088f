package io.envapi.keyring;

import com.typesafe.config.Config;
import java.net.URI;
import java.time.Duration;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * How to reach the keyring and what to ask of its tokens.
 *
 * @param baseUrl where its routes begin; http or https, without credentials, query or fragment
 * @param issuer the only accepted {@code iss}
 * @param serviceName the only accepted {@code aud}
 * @param serviceToken what this service shows to read credentials; without it none can be read
 * @param timeout for a whole exchange with the keyring, body included
 * @param jwksCache how long fetched keys count as fresh
 * @param jwksMinRefetch how far apart the fetches are that unknown key ids or failures cause
 * @param defaultProfile for requests that name none
 */
public record KeyringSettings(
    URI baseUrl,
    String issuer,
    String serviceName,
    Optional<Secret> serviceToken,
    Duration timeout,
    Duration jwksCache,
    Duration jwksMinRefetch,
    String defaultProfile) {

  private static final Pattern PROFILE = Pattern.compile("[a-z0-9][a-z0-9_-]{0,63}");
  private static final Pattern HEADER_TEXT = Pattern.compile("[!-~]{32,}");

  public KeyringSettings {
    boolean web = "http".equals(baseUrl.getScheme()) || "https".equals(baseUrl.getScheme());
    require(web && baseUrl.getHost() != null, "base-url is no http(s) address");
    require(
        baseUrl.getUserInfo() == null
            && baseUrl.getQuery() == null
            && baseUrl.getFragment() == null,
        "base-url has more than a host and a path");
    require(!issuer.isBlank(), "issuer is empty");
    require(!serviceName.isBlank(), "service-name is empty");
    // A token outside these characters could not be sent, and the client's complaint would quote
    // it.
    require(
        serviceToken.map(t -> HEADER_TEXT.matcher(t.reveal()).matches()).orElse(true),
        "service-token has under 32 characters or some that no header can carry");
    require(timeout.isPositive(), "timeout is not positive");
    require(jwksCache.isPositive(), "jwks-cache is not positive");
    require(jwksMinRefetch.isPositive(), "jwks-min-refetch is not positive");
    require(PROFILE.matcher(defaultProfile).matches(), "default-profile is no profile name");
  }

  /** Reads the {@code keyring} section; an empty service token is none. */
  public static KeyringSettings from(Config config) {
    Config keyring = config.getConfig("keyring");
    String token = keyring.getString("service-token").trim();
    return new KeyringSettings(
        URI.create(keyring.getString("base-url").trim()),
        keyring.getString("issuer").trim(),
        keyring.getString("service-name").trim(),
        token.isEmpty() ? Optional.empty() : Optional.of(Secret.of(token)),
        keyring.getDuration("timeout"),
        keyring.getDuration("jwks-cache"),
        keyring.getDuration("jwks-min-refetch"),
        keyring.getString("default-profile").trim());
  }

  private static void require(boolean holds, String otherwise) {
    if (!holds) {
      throw new IllegalArgumentException("keyring." + otherwise);
    }
  }
}
