package io.envapi.http;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.envapi.audit.AuditFilter;
import io.envapi.host.Hosts;
import io.envapi.id.AccountId;
import io.envapi.keyring.Caller;
import java.math.BigDecimal;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/** {@code GET /v1/admin/audit}: the events of all hosts. */
final class AuditRoute {

  private final Hosts hosts;

  AuditRoute(Hosts hosts) {
    this.hosts = hosts;
  }

  CompletionStage<Answer> read(Exchange exchange, Caller caller) {
    return exchange.query(
        AuditRoute::filter,
        filter ->
            hosts
                .audit(filter)
                .thenApply(
                    found -> {
                      ObjectNode json = Json.object();
                      json.set(
                          "events",
                          Json.array(found.value().lines(), line -> Json.raw(line.json())));
                      json.put("truncated", found.value().truncated());
                      return Answer.ok(AdminRoutes.away(json, found));
                    }));
  }

  private static AuditFilter filter(Query query) {
    return new AuditFilter(
        given(query, "account_id").map(AccountId::new),
        given(query, "environment_id"),
        given(query, "action"),
        since(query),
        (int) query.integer("limit", 100, 1, 1000));
  }

  private static Optional<String> given(Query query, String name) {
    return query.text(name).filter(value -> !value.isEmpty());
  }

  /** Epoch seconds, with a fraction or without, in epoch ms. */
  private static Optional<Long> since(Query query) {
    Optional<String> text = given(query, "since");
    if (text.isPresent() && !text.get().matches("[0-9]{1,12}(\\.[0-9]{1,9})?")) {
      query.fault("since", "must be a number of seconds since 1970", "float_parsing");
      return Optional.empty();
    }
    return text.map(seconds -> new BigDecimal(seconds).movePointRight(3).longValue());
  }
}
