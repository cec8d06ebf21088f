package io.envapi.http;

import io.envapi.audit.AuditEvent;
import io.envapi.id.AccountId;
import io.envapi.id.EnvironmentId;
import io.envapi.id.ShellId;
import io.envapi.keyring.Caller;
import java.util.ArrayList;
import java.util.List;

/** Something that belongs into the audit log, while it is done. */
final class Deed {

  private final Caller caller;
  private final String action;
  private final String requestId;
  private final List<AuditEvent> told = new ArrayList<>();

  Deed(Caller caller, String action, String requestId) {
    this.caller = caller;
    this.action = action;
    this.requestId = requestId;
  }

  Caller caller() {
    return caller;
  }

  AccountId account() {
    return caller.account();
  }

  /** The beginning of an event of this action. */
  AuditEvent event() {
    return event(action);
  }

  AuditEvent event(String name) {
    return AuditEvent.of(name, caller.account()).with("request_id", requestId);
  }

  AuditEvent event(EnvironmentId id) {
    return event().with("environment_id", id.value());
  }

  AuditEvent event(ShellId id) {
    return event(id.environment()).with("shell_id", id.value());
  }

  /** What was done; what is told before the answer is written before it. */
  void done(AuditEvent event) {
    tell(event, "ok");
  }

  synchronized void tell(AuditEvent event, String outcome) {
    told.add(event.with("outcome", outcome));
  }

  synchronized List<AuditEvent> told() {
    return List.copyOf(told);
  }
}
