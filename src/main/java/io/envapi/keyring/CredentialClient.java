package io.envapi.keyring;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.envapi.failure.Failure;
import io.envapi.failure.Result;
import java.io.IOException;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Asks the keyring for a caller's credentials, with the caller's own token. */
public final class CredentialClient {

  private static final Logger LOG = LoggerFactory.getLogger(CredentialClient.class);
  private static final String UNREACHABLE = "keyring is unreachable";
  private static final int MAX_DETAIL_CHARS = 500;
  private static final Pattern NAME = Pattern.compile("[a-z0-9][a-z0-9_-]{0,63}");
  private static final ObjectMapper JSON = new ObjectMapper();

  private final ServiceHttp http;
  private final Optional<Secret> serviceToken;

  CredentialClient(ServiceHttp http, Optional<Secret> serviceToken) {
    this.http = http;
    this.serviceToken = serviceToken;
  }

  /**
   * The credentials stored for {@code services} under {@code profile}; all are asked for at once.
   * One refusal refuses the whole, the first service's in order.
   */
  public CompletionStage<Result<Credentials>> resolve(
      Caller caller, String profile, SortedSet<String> services) {
    requireName(profile);
    services.forEach(CredentialClient::requireName);
    if (services.isEmpty()) {
      return CompletableFuture.completedFuture(Result.ok(Credentials.NONE));
    }
    if (serviceToken.isEmpty()) {
      LOG.warn("no credentials: ENVAPI_KEYRING_SERVICE_TOKEN is not set");
      return CompletableFuture.completedFuture(Result.refused(unreachable()));
    }
    Map<String, String> headers =
        Map.of(
            "Authorization",
            "Bearer " + serviceToken.get().reveal(),
            "X-Keyring-User-Token",
            caller.token().reveal());
    var answers = new TreeMap<String, CompletableFuture<Result<Optional<Variables>>>>();
    for (String service : services) {
      answers.put(
          service,
          http.get("/v1/internal/credentials/" + profile + "/" + service, headers)
              .thenApply(answer -> read(service, answer.statusCode(), answer.body()))
              .exceptionally(CredentialClient::unanswered));
    }
    return CompletableFuture.allOf(answers.values().toArray(CompletableFuture<?>[]::new))
        .thenApply(_ -> collect(answers));
  }

  /** Logs no message of what was thrown: it may quote a header. */
  private static Result<Optional<Variables>> unanswered(Throwable error) {
    Throwable cause =
        error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
    LOG.warn("no credentials: the keyring did not answer: {}", cause.getClass().getSimpleName());
    return Result.refused(unreachable());
  }

  record Variables(SequencedMap<String, Secret> byName) {}

  private static Result<Credentials> collect(
      Map<String, CompletableFuture<Result<Optional<Variables>>>> answers) {
    var variables = new TreeMap<String, SequencedMap<String, Secret>>();
    var missing = new TreeSet<String>();
    for (var each : answers.entrySet()) {
      switch (each.getValue().join()) {
        case Result.Ok<Optional<Variables>>(var found) -> {
          if (found.isPresent()) {
            variables.put(each.getKey(), found.get().byName());
          } else {
            missing.add(each.getKey());
          }
        }
        case Result.Refused<Optional<Variables>>(var failure) -> {
          return Result.refused(failure);
        }
      }
    }
    return Result.ok(new Credentials(variables, missing));
  }

  /**
   * @param body overwritten when it has been read
   */
  static Result<Optional<Variables>> read(String service, int status, byte[] body) {
    try {
      return switch (status) {
        case 200 -> variables(service, body);
        case 401 -> Result.refused(new Failure.Unauthorized());
        case 404 -> Result.ok(Optional.empty());
        case 503 -> Result.refused(new Failure.KeyringUnavailable(detail(body)));
        default -> {
          LOG.warn("no credentials: the keyring answered with status {}", status);
          yield Result.refused(unreachable());
        }
      };
    } finally {
      Arrays.fill(body, (byte) 0);
    }
  }

  private static Result<Optional<Variables>> variables(String service, byte[] body) {
    try {
      JsonNode json = JSON.readTree(body);
      if (json.isObject()) {
        var variables =
            CredentialVariables.of(
                service, texts(json.path("headers")), texts(json.path("query_params")));
        return Result.ok(Optional.of(new Variables(variables)));
      }
    } catch (IOException e) {
      // Falls through: what cannot be read was not answered.
    }
    return Result.refused(unreachable());
  }

  private static Map<String, String> texts(JsonNode object) throws IOException {
    var texts = new LinkedHashMap<String, String>();
    if (object.isMissingNode() || object.isNull()) {
      return texts;
    }
    if (!object.isObject()) {
      throw new IOException("not an object");
    }
    for (var each : object.properties()) {
      // An environment variable cannot hold a NUL.
      if (!each.getValue().isTextual() || each.getValue().textValue().indexOf('\0') >= 0) {
        throw new IOException("not a text");
      }
      texts.put(each.getKey(), each.getValue().textValue());
    }
    return texts;
  }

  private static String detail(byte[] body) {
    try {
      String detail = JSON.readTree(body).path("detail").asText("");
      return detail.isBlank() ? UNREACHABLE : detail.substring(0, cut(detail));
    } catch (JacksonException e) {
      return UNREACHABLE;
    } catch (IOException e) {
      throw new AssertionError("reading from memory", e);
    }
  }

  private static int cut(String text) {
    int end = Math.min(text.length(), MAX_DETAIL_CHARS);
    return end < text.length() && Character.isHighSurrogate(text.charAt(end - 1)) ? end - 1 : end;
  }

  private static Failure unreachable() {
    return new Failure.KeyringUnavailable(UNREACHABLE);
  }

  /** Names go into a path, so they must be what the routes let through. */
  private static void requireName(String name) {
    if (!NAME.matcher(name).matches()) {
      throw new IllegalArgumentException("not a profile or service name");
    }
  }
}
