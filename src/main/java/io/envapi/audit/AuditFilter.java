package io.envapi.audit;

import io.envapi.id.AccountId;
import java.util.Optional;

/**
 * Which events are wanted; what is empty leaves all through.
 *
 * @param environment an environment's id
 * @param since epoch ms; events at that moment are wanted
 * @param limit the newest so many
 */
public record AuditFilter(
    Optional<AccountId> account,
    Optional<String> environment,
    Optional<String> action,
    Optional<Long> since,
    int limit) {

  /** Everybody's. */
  public static AuditFilter newest(int limit) {
    return new AuditFilter(
        Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty(), limit);
  }

  /** One account's. */
  public AuditFilter of(AccountId whose) {
    return new AuditFilter(Optional.of(whose), environment, action, since, limit);
  }

  boolean accepts(AuditEvent event) {
    return account.map(event.account()::equals).orElse(true)
        && action.map(event.action()::equals).orElse(true)
        && environment.map(event.members().path("environment_id").asText()::equals).orElse(true)
        && since.map(at -> event.at() >= at).orElse(true);
  }
}
