package io.envapi.http;

import io.envapi.environment.EnvironmentView;
import io.envapi.failure.Result;
import io.envapi.host.Environments;
import io.envapi.id.AccountId;
import io.envapi.id.EnvironmentId;
import io.envapi.keyring.Caller;
import io.envapi.keyring.CredentialClient;
import io.envapi.keyring.Credentials;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;

/** The credentials a caller's command gets in an environment. */
final class CallerCredentials {

  /**
   * What a command gets.
   *
   * @param variables by service, variable to value
   * @param missing services nothing is stored for
   */
  record Given(Map<String, Map<String, String>> variables, List<String> missing) {

    static final Given NONE = new Given(Map.of(), List.of());

    /** Without the values. */
    @Override
    public String toString() {
      return "Given[" + variables.keySet() + ", missing=" + missing + "]";
    }
  }

  private record Key(AccountId account, EnvironmentId environment) {}

  /** What of an environment decides; neither changes while the environment exists. */
  private record Needs(String profile, TreeSet<String> services) {}

  /** Only to spare the look-up: the command itself is refused where the environment is gone. */
  private static final int MOST_KNOWN = 10_000;

  private final Environments environments;
  private final CredentialClient client;
  private final Map<Key, Needs> known = new ConcurrentHashMap<>();

  CallerCredentials(Environments environments, CredentialClient client) {
    this.environments = environments;
    this.client = client;
  }

  CompletionStage<Result<Given>> credentialsFor(Caller caller, EnvironmentId environment) {
    var key = new Key(caller.account(), environment);
    Needs needs = known.get(key);
    if (needs != null) {
      return resolve(caller, needs);
    }
    return environments
        .describe(caller.account(), environment)
        .thenCompose(
            described ->
                switch (described) {
                  case Result.Refused<EnvironmentView>(var failure) ->
                      CompletableFuture.completedStage(Result.refused(failure));
                  case Result.Ok<EnvironmentView>(var view) -> resolve(caller, remember(key, view));
                });
  }

  private Needs remember(Key key, EnvironmentView view) {
    var needs = new Needs(view.spec().profile(), new TreeSet<>(view.spec().credentials()));
    if (known.size() >= MOST_KNOWN) {
      known.clear();
    }
    known.put(key, needs);
    return needs;
  }

  private CompletionStage<Result<Given>> resolve(Caller caller, Needs needs) {
    if (needs.services().isEmpty()) {
      return CompletableFuture.completedStage(Result.ok(Given.NONE));
    }
    return client
        .resolve(caller, needs.profile(), needs.services())
        .thenApply(result -> result.map(CallerCredentials::given));
  }

  /** From here on they are texts, as everything in a message is. */
  private static Given given(Credentials credentials) {
    var variables = new HashMap<String, Map<String, String>>();
    credentials
        .variables()
        .forEach(
            (service, secrets) -> {
              var values = new HashMap<String, String>();
              secrets.forEach((name, secret) -> values.put(name, secret.reveal()));
              variables.put(service, values);
            });
    credentials.wipe();
    return new Given(variables, List.copyOf(credentials.missing()));
  }
}
