package io.envapi.keyring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.envapi.id.AccountId;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KeyringSettingsTest {

  private static final String GOOD =
      """
      keyring {
        base-url = "http://127.0.0.1:8001/prefix/"
        issuer = "http://127.0.0.1:8001"
        service-name = " environments-api "
        service-token = ""
        timeout = 5s
        jwks-cache = 1h
        jwks-min-refetch = 60s
        default-profile = personal
      }
      """;

  private static Config config(String key, String value) {
    return ConfigFactory.parseString("keyring." + key + " = \"" + value + "\"")
        .withFallback(ConfigFactory.parseString(GOOD));
  }

  @Test
  void settingsAreRead() {
    var settings = KeyringSettings.from(ConfigFactory.parseString(GOOD));
    assertThat(settings.serviceName()).isEqualTo("environments-api");
    assertThat(settings.serviceToken()).isEmpty();
    assertThat(settings.jwksCache()).isEqualTo(Duration.ofHours(1));
    assertThat(settings.jwksMinRefetch()).isEqualTo(Duration.ofMinutes(1));
    assertThat(settings.timeout()).isEqualTo(Duration.ofSeconds(5));
  }

  @ParameterizedTest
  @CsvSource({
    "base-url, ftp://host",
    "base-url, host:8001",
    "base-url, http://u:p@host",
    "base-url, http://h/?q",
    "base-url, http:///path",
    "issuer, ' '",
    "service-name, ' '",
    "service-token, short",
    "service-token, a token with blanks in it, long enough",
    "timeout, 0s",
    "jwks-cache, -1s",
    "jwks-min-refetch, 0s",
    "default-profile, Not-A-Profile"
  })
  void nonsenseIsRefusedByName(String key, String value) {
    assertThatThrownBy(() -> KeyringSettings.from(config(key, value)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("keyring." + key);
  }

  @Test
  void secretsDoNotPrint() throws IOException {
    String value = "a-service-token-of-enough-characters";
    var settings = KeyringSettings.from(config("service-token", value));
    assertThat(settings.toString()).doesNotContain(value);
    var secret = Secret.of(value);
    assertThat(new Caller(new AccountId("a"), "p", secret, Instant.MAX).toString())
        .doesNotContain(value);
    var json = new ObjectMapper();
    assertThat(json.readValue(json.writeValueAsString(secret), Secret.class)).isEqualTo(secret);
    secret.wipe();
    assertThat(secret.reveal()).doesNotContain("token");
    assertThat(secret).isNotEqualTo(Secret.of(value));
  }
}
