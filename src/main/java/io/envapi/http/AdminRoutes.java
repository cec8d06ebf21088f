package io.envapi.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.envapi.account.Account;
import io.envapi.account.Quotas;
import io.envapi.audit.AuditEvent;
import io.envapi.audit.AuditLog;
import io.envapi.failure.Failure;
import io.envapi.host.Accounts;
import io.envapi.host.Environments;
import io.envapi.id.AccountId;
import io.envapi.keyring.Caller;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;

/** {@code /v1/admin}: for operators. */
final class AdminRoutes {

  private record AuditQuery(int limit, Optional<AccountId> account) {

    static AuditQuery read(Query query) {
      return new AuditQuery(
          (int) query.integer("limit", 100, 1, 1000),
          query.text("account_id").filter(id -> !id.isEmpty()).map(AccountId::new));
    }
  }

  private final Environments environments;
  private final Accounts accounts;
  private final AuditLog audit;
  private final Executor disk;

  /**
   * @param disk where the audit log is read
   */
  AdminRoutes(Environments environments, Accounts accounts, AuditLog audit, Executor disk) {
    this.environments = environments;
    this.accounts = accounts;
    this.audit = audit;
    this.disk = disk;
  }

  void addTo(RouteTable routes) {
    routes
        .on("/v1/admin/quotas/{account}")
        .add("GET", new RouteTable.ForOperator(this::quotas))
        .add("PUT", new RouteTable.ForOperator(this::override));
    routes
        .on("/v1/admin/environments")
        .add("GET", new RouteTable.ForOperator(this::allEnvironments));
    routes.on("/v1/admin/audit").add("GET", new RouteTable.ForOperator(this::audit));
  }

  private CompletionStage<Answer> quotas(Exchange exchange, Caller caller) {
    var account = new AccountId(exchange.parameter("account"));
    return accounts.quotas(account).thenApply(quotas -> Answer.ok(quotas(account, quotas)));
  }

  private CompletionStage<Answer> override(Exchange exchange, Caller caller) {
    var account = new AccountId(exchange.parameter("account"));
    return exchange.body(
        AdminRoutes::overrides,
        overrides ->
            accounts
                .override(account, overrides)
                .thenApply(
                    quotas -> {
                      audit.record(
                          AuditEvent.of("quota.set", caller.account())
                              .with("target_account_id", account.value())
                              .with("overrides", numbers(overrides)));
                      return Answer.ok(quotas(account, quotas));
                    }));
  }

  private static Map<String, Number> overrides(Fields body) {
    var overrides = new LinkedHashMap<String, Number>();
    for (Map.Entry<String, JsonNode> each : body.requiredInner("overrides").object().properties()) {
      JsonNode value = each.getValue();
      // What is no number stands for itself, and no quota takes it.
      Object plain = value.isNumber() ? value.numberValue() : value;
      Optional<Failure.InvalidQuota> invalid = Quotas.invalid(each.getKey(), plain);
      invalid.ifPresent(body::refuse);
      if (invalid.isEmpty()) {
        overrides.put(each.getKey(), value.numberValue());
      }
    }
    return overrides;
  }

  private CompletionStage<Answer> allEnvironments(Exchange exchange, Caller caller) {
    return environments
        .listAll()
        .thenApply(views -> Answer.ok(EnvironmentJson.environments(views)));
  }

  private CompletionStage<Answer> audit(Exchange exchange, Caller caller) {
    return exchange.query(
        AuditQuery::read,
        query ->
            CompletableFuture.supplyAsync(() -> newest(query), disk)
                .thenApply(
                    events -> {
                      ObjectNode json = Json.object();
                      json.set("events", Json.array(events, AuditEvent::json));
                      return Answer.ok(json);
                    }));
  }

  private List<AuditEvent> newest(AuditQuery query) {
    try {
      return audit.newest(query.limit(), query.account());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static ObjectNode quotas(AccountId account, Account.QuotasReply reply) {
    ObjectNode json = Json.object().put("account_id", account.value());
    json.set("effective", numbers(reply.effective().values()));
    json.set("overrides", numbers(reply.overrides()));
    json.set("defaults", numbers(reply.defaults().values()));
    return json;
  }

  private static ObjectNode numbers(Map<String, Number> values) {
    ObjectNode json = Json.object();
    values.forEach((name, value) -> json.set(name, Json.exact(value)));
    return json;
  }
}
