package io.envapi.audit;

import java.util.ArrayList;
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

  /** The newest of both, each in its order. */
  AuditPage and(AuditPage other, int limit) {
    var both = new ArrayList<AuditEvent>();
    int next = 0;
    for (AuditEvent event : events) {
      while (next < other.events.size() && other.events.get(next).at() < event.at()) {
        both.add(other.events.get(next++));
      }
      both.add(event);
    }
    both.addAll(other.events.subList(next, other.events.size()));
    return new AuditPage(
        both.subList(Math.max(0, both.size() - limit), both.size()), truncated || other.truncated);
  }
}
