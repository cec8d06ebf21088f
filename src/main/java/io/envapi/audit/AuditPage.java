package io.envapi.audit;

import java.util.List;

/**
 * What was found.
 *
 * @param events oldest first
 * @param truncated the search ended before the oldest events, because it had read enough
 */
public record AuditPage(List<AuditEvent> events, boolean truncated) {
  public AuditPage {
    events = List.copyOf(events);
  }
}
