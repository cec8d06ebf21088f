package io.envapi.http;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.envapi.keyring.KeyringStatus;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/** {@code /health} and {@code /ready}: whether the service runs, and whether it can do its work. */
final class HealthRoutes {

  private final Readiness readiness;
  private final Supplier<CompletionStage<KeyringStatus>> keyring;

  HealthRoutes(Readiness readiness, Supplier<CompletionStage<KeyringStatus>> keyring) {
    this.readiness = readiness;
    this.keyring = keyring;
  }

  void addTo(RouteTable routes) {
    routes.on("/health").getOpen(this::health);
    routes.on("/healthy").getOpen(this::health);
    routes.on("/health/ready").getOpen(this::ready);
    routes.on("/ready").getOpen(this::ready);
  }

  private CompletionStage<Answer> health(Exchange exchange) {
    return Answer.ok(Json.object().put("status", "ok").put("service", "environments-api")).now();
  }

  private CompletionStage<Answer> ready(Exchange exchange) {
    return keyring.get().thenApply(this::ready);
  }

  private Answer ready(KeyringStatus status) {
    ObjectNode json =
        Json.object()
            .put("status", status.isReady() ? "ready" : "not_ready")
            .put("sandbox_tier", readiness.sandboxTier().label())
            .put("min_sandbox_tier", readiness.minTier().label())
            .put("allow_network", readiness.allowNetwork());
    json.set(
        "sandbox_layers",
        Json.object()
            .put("cgroup", readiness.layers().cgroup())
            .put("seccomp", readiness.layers().seccomp())
            .put("userns", readiness.layers().userns())
            .put("network", readiness.layers().network()));
    ObjectNode about = Json.object().put("status", status.code());
    about.set("error", Json.text(status.error()));
    json.set("keyring", about);
    return new Answer.Document(status.isReady() ? 200 : 503, json, List.of());
  }
}
