package io.envapi.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.envapi.account.Account;
import io.envapi.account.Quotas;
import io.envapi.environment.Environment;
import io.envapi.failure.Failure;
import io.envapi.host.Accounts;
import io.envapi.host.Environments;
import io.envapi.host.Host;
import io.envapi.host.Hosts;
import io.envapi.id.AccountId;
import io.envapi.id.EnvironmentId;
import io.envapi.id.HostId;
import io.envapi.keyring.Caller;
import io.envapi.sandbox.Layers;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.apache.pekko.actor.typed.ActorRef;

/** {@code /v1/admin}: for operators. */
final class AdminRoutes {

  /** Killing what runs and removing what is on the disk takes its time. */
  private static final Duration DISK_WORK = Duration.ofSeconds(60);

  private final Environments environments;
  private final Hosts hosts;
  private final Accounts accounts;
  private final AuditRoute auditRoute;
  private final Audited audited;

  AdminRoutes(Environments environments, Hosts hosts, Accounts accounts, Audited audited) {
    this.environments = environments;
    this.hosts = hosts;
    this.accounts = accounts;
    this.auditRoute = new AuditRoute(hosts);
    this.audited = audited;
  }

  void addTo(RouteTable routes) {
    routes
        .on("/v1/admin/quotas/{account}")
        .add("GET", audited.forOperator(this::quotas))
        .add("PUT", audited.forOperator(audited.of("quota.set", this::override)));
    routes.on("/v1/admin/environments").add("GET", audited.forOperator(this::allEnvironments));
    routes
        .on("/v1/admin/environments/{environment}/close")
        .add(
            "POST",
            audited.forOperator(
                audited.of("environment.close", force(Environment.CloseShells::new))));
    routes
        .on("/v1/admin/environments/{environment}/archive")
        .add(
            "POST",
            audited.forOperator(
                audited.of("environment.archive", force(Environment.Archive::new))));
    routes.on("/v1/admin/hosts").add("GET", audited.forOperator(this::hosts));
    routes.on("/v1/admin/audit").add("GET", audited.forOperator(auditRoute::read));
  }

  private CompletionStage<Answer> quotas(Exchange exchange, Caller caller) {
    var account = new AccountId(exchange.parameter("account"));
    return accounts.quotas(account).thenApply(quotas -> Answer.ok(quotas(account, quotas)));
  }

  private CompletionStage<Answer> override(Exchange exchange, Deed deed) {
    var account = new AccountId(exchange.parameter("account"));
    return exchange.body(
        AdminRoutes::overrides,
        overrides ->
            accounts
                .override(account, overrides)
                .thenApply(
                    quotas -> {
                      deed.done(
                          deed.event()
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
    return hosts
        .environments()
        .thenApply(found -> Answer.ok(away(EnvironmentJson.environments(found.value()), found)));
  }

  private CompletionStage<Answer> hosts(Exchange exchange, Caller caller) {
    return hosts
        .describe()
        .thenApply(
            found -> {
              ObjectNode json = Json.object();
              json.set("hosts", Json.array(found.value(), AdminRoutes::host));
              return Answer.ok(away(json, found));
            });
  }

  /** Names the hosts of which the answer knows nothing. */
  static ObjectNode away(ObjectNode json, Hosts.Found<?> found) {
    json.set("unreachable_hosts", Json.texts(found.away().stream().map(HostId::value).toList()));
    return json;
  }

  private static ObjectNode host(Host.Description host) {
    Layers layers = host.layers();
    ObjectNode json =
        Json.object()
            .put("host_id", host.id().value())
            .put("sandbox_tier", host.tier().label())
            .put("environments", host.environments())
            .put("shells", host.shells())
            .put("up_since", Json.seconds(host.since()));
    json.set(
        "layers",
        Json.object()
            .put("cgroup", layers.cgroup())
            .put("seccomp", layers.seccomp())
            .put("userns", layers.userns())
            .put("network", layers.network()));
    return json;
  }

  /** Asks anybody's environment; its account is told in the audit log as the target. */
  private Audited.Action force(
      Function<ActorRef<Environment.DescribeReply>, Environment.Request> request) {
    return (exchange, deed) ->
        exchange.environment(
            id ->
                hosts
                    .owner(id)
                    .thenCompose(
                        owner ->
                            owner
                                .value()
                                .map(account -> force(deed, account, id, request))
                                .orElseGet(() -> nobodys(id, owner).now())));
  }

  /** It may be on a host that did not answer. */
  private static Problem nobodys(EnvironmentId id, Hosts.Found<?> asked) {
    return Problems.of(
        asked.away().isEmpty()
            ? new Failure.NotFound(Failure.Kind.ENVIRONMENT, id.value())
            : new Failure.HostUnavailable(5));
  }

  private CompletionStage<Answer> force(
      Deed deed,
      AccountId owner,
      EnvironmentId id,
      Function<ActorRef<Environment.DescribeReply>, Environment.Request> request) {
    return environments
        .<Environment.DescribeReply>environment(
            owner, id, DISK_WORK, (_, replyTo) -> request.apply(replyTo))
        .thenApply(
            reply ->
                switch (reply) {
                  case Environment.Described(var view) -> {
                    deed.done(deed.event(id).with("target_account_id", owner.value()));
                    yield Answer.ok(EnvironmentJson.environment(view));
                  }
                  case Environment.Refused(var failure) -> Problems.of(failure);
                });
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
