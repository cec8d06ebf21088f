package io.envapi.preferences;

import io.envapi.keyring.Caller;
import io.envapi.keyring.ServiceHttp;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One question to the settings service: {@code GET
 * /v1/internal/settings/environments?profile=<profile>}, with this service's token and the
 * caller's. The answer has the namespace {@code common} merged underneath.
 */
final class PreferencesClient implements AutoCloseable {

  /** What came of it. */
  sealed interface Reply {}

  record Read(Document document) implements Reply {}

  /** It answered, and does not want to: no outage, so nothing may stand in. */
  record Rejected() implements Reply {}

  record Unreachable() implements Reply {}

  private static final Logger LOG = LoggerFactory.getLogger(PreferencesClient.class);
  private static final String PATH = "/v1/internal/settings/environments";

  private final ServiceHttp http;
  private final String authorization;

  PreferencesClient(PreferencesSettings settings) {
    this.http = new ServiceHttp(settings.baseUrl(), settings.timeout());
    this.authorization = "Bearer " + settings.token().reveal();
  }

  /** Never fails. */
  CompletableFuture<Reply> ask(Caller caller, Optional<String> profile) {
    String token = caller.token().reveal();
    // The second name is the keyring's: whichever of the two the service reads, it is the caller's.
    Map<String, String> headers =
        Map.of(
            "Authorization",
            authorization,
            "X-Settings-User-Token",
            token,
            "X-Keyring-User-Token",
            token);
    String path = PATH + profile.map(name -> "?profile=" + name).orElse("");
    return http.get(path, headers)
        .thenApply(PreferencesClient::read)
        .exceptionally(
            failure -> {
              LOG.warn("the settings service is out of reach");
              return new Unreachable();
            });
  }

  private static Reply read(HttpResponse<byte[]> answer) {
    int status = answer.statusCode();
    if (status == 200) {
      try {
        return new Read(Document.read(answer.body()));
      } catch (IOException e) {
        LOG.warn("the settings service sent what is no settings");
        return new Unreachable();
      }
    }
    LOG.warn("the settings service answered with status {}", status);
    boolean later = status == 408 || status == 429;
    return status >= 400 && status < 500 && !later ? new Rejected() : new Unreachable();
  }

  @Override
  public void close() {
    http.close();
  }
}
