package io.envapi.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.envapi.failure.Failure;
import io.envapi.failure.Result;
import io.envapi.id.AccountId;
import io.envapi.keyring.Caller;
import io.envapi.keyring.Keyring;
import io.envapi.keyring.KeyringSettings;
import io.envapi.keyring.Secret;
import io.envapi.preferences.Chosen;
import io.envapi.preferences.Preferences;
import io.envapi.preferences.PreferencesSettings;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The stand-in for the settings service, asked by the real client with real tokens. */
class DevSettingsTest {

  private static final String ISSUER = "http://keyring.example";

  private DevKeyringServer devKeyring;
  private Keyring keyring;
  private DevSettingsServer server;

  @BeforeEach
  void start() throws Exception {
    devKeyring = DevKeyringServer.start(0, ISSUER, DevKeyring.DEFAULT_SERVICE_TOKEN);
    keyring =
        Keyring.open(
            new KeyringSettings(
                URI.create(devKeyring.baseUrl()),
                ISSUER,
                "environments-api",
                Optional.empty(),
                Duration.ofSeconds(20),
                Duration.ofHours(1),
                Duration.ofMinutes(1),
                "personal"));
    server = DevSettingsServer.start(0, DevSettings.DEFAULT_TOKEN, keyring.tokens());
  }

  @AfterEach
  void stop() {
    server.close();
    keyring.close();
    devKeyring.close();
  }

  private Result<Chosen> asked(String account, String token, String serviceToken) {
    var settings =
        new PreferencesSettings(
            URI.create(server.baseUrl()), Secret.of(serviceToken), Duration.ofSeconds(20));
    try (var preferences = Preferences.open(Optional.of(settings), "personal")) {
      return preferences
          .of(
              new Caller(new AccountId(account), "personal", Secret.of(token), Instant.MAX),
              Optional.empty())
          .toCompletableFuture()
          .join();
    }
  }

  private String mint(String account) {
    return devKeyring.mint(account, Duration.ofMinutes(5));
  }

  private void store(String body) throws Exception {
    try (var http = HttpClient.newHttpClient()) {
      var request =
          HttpRequest.newBuilder(URI.create(server.baseUrl() + "/dev/settings"))
              .PUT(HttpRequest.BodyPublishers.ofString(body));
      assertThat(http.send(request.build(), HttpResponse.BodyHandlers.ofString()).statusCode())
          .isEqualTo(200);
    }
  }

  @Test
  void whatWasStoredIsToldToItsAccountInItsProfile() throws Exception {
    store("{\"account_id\":\"alice\",\"settings\":{\"default_profile\":\"work\"}}");
    store(
        "{\"account_id\":\"alice\",\"profile\":\"work\",\"settings\":"
            + "{\"max_environments_per_profile\":2}}");

    Chosen alice =
        ((Result.Ok<Chosen>) asked("alice", mint("alice"), DevSettings.DEFAULT_TOKEN)).value();
    Chosen bob = ((Result.Ok<Chosen>) asked("bob", mint("bob"), DevSettings.DEFAULT_TOKEN)).value();

    assertThat(alice.profile()).isEqualTo("work");
    assertThat(alice.environmentsPerProfile()).contains(2L);
    assertThat(bob.profile()).isEqualTo("personal");
    assertThat(bob.environmentsPerProfile()).isEmpty();
  }

  @Test
  void itNeedsBothTokens() {
    String wrong = "x".repeat(40);
    for (var refused :
        new Result<?>[] {
          asked("alice", mint("alice"), wrong), asked("alice", wrong, DevSettings.DEFAULT_TOKEN)
        }) {
      assertThat(refused)
          .isInstanceOfSatisfying(
              Result.Refused.class,
              it -> assertThat(it.failure()).isInstanceOf(Failure.PreferencesUnavailable.class));
    }
  }
}
