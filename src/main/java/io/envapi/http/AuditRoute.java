package io.envapi.http;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.envapi.audit.AuditEvent;
import io.envapi.audit.AuditFilter;
import io.envapi.audit.AuditLog;
import io.envapi.audit.AuditPage;
import io.envapi.id.AccountId;
import io.envapi.keyring.Caller;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;

/** {@code GET /v1/admin/audit}: the events of this host. */
final class AuditRoute {

  private final AuditLog log;
  private final Executor disk;

  /**
   * @param disk where the log is read
   */
  AuditRoute(AuditLog log, Executor disk) {
    this.log = log;
    this.disk = disk;
  }

  CompletionStage<Answer> read(Exchange exchange, Caller caller) {
    return exchange.query(
        AuditRoute::filter,
        filter ->
            CompletableFuture.supplyAsync(() -> search(filter), disk)
                .thenApply(
                    page -> {
                      ObjectNode json = Json.object();
                      json.set("events", Json.array(page.events(), AuditEvent::json));
                      return Answer.ok(json.put("truncated", page.truncated()));
                    }));
  }

  private AuditPage search(AuditFilter filter) {
    try {
      return log.search(filter);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
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
