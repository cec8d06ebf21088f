package io.envapi.http;

import com.typesafe.config.Config;
import io.envapi.id.AccountId;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * How the HTTP interface behaves.
 *
 * @param port 0 takes a free one
 * @param apiKeys when not empty, every {@code /v1} request needs one of them
 * @param operatorAccounts the accounts that may use {@code /v1/admin}
 * @param requestTimeout longer than the longest wait a caller can ask for
 * @param askTimeout for an answer within the service, beyond a wait the caller asked for
 * @param allowNetwork whether an environment may be created with network access
 * @param metricsToken lets whoever collects the metrics in; empty: there are none to be had
 */
public record HttpSettings(
    String host,
    int port,
    List<String> apiKeys,
    Set<AccountId> operatorAccounts,
    long maxBodyBytes,
    Duration requestTimeout,
    Duration askTimeout,
    boolean allowNetwork,
    LoadSettings load,
    String metricsToken) {

  public HttpSettings {
    apiKeys = List.copyOf(apiKeys);
    operatorAccounts = Set.copyOf(operatorAccounts);
  }

  /** From the {@code envapi} section. */
  public static HttpSettings from(Config envapi) {
    return new HttpSettings(
        envapi.getString("http.host"),
        envapi.getInt("http.port"),
        envapi.getStringList("http.api-keys"),
        envapi.getStringList("http.operator-accounts").stream()
            .map(AccountId::new)
            .collect(Collectors.toUnmodifiableSet()),
        envapi.getBytes("http.max-body-bytes"),
        envapi.getDuration("http.request-timeout"),
        envapi.getDuration("http.ask-timeout"),
        envapi.getBoolean("sandbox.allow-network"),
        LoadSettings.from(envapi),
        envapi.getString("http.metrics-token"));
  }

  /** Without the API keys and the token. */
  @Override
  public String toString() {
    return "HttpSettings[%s:%d, %d API keys]".formatted(host, port, apiKeys.size());
  }
}
