package io.envapi.account;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import io.envapi.id.EnvironmentId;
import io.envapi.id.HostId;
import java.util.Map;

/** What happened to an account. Times are epoch ms. */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "type")
@JsonSubTypes({
  @JsonSubTypes.Type(value = AccountEvent.EnvironmentReserved.class, name = "environment-reserved"),
  @JsonSubTypes.Type(value = AccountEvent.EnvironmentPlaced.class, name = "environment-placed"),
  @JsonSubTypes.Type(value = AccountEvent.EnvironmentReleased.class, name = "environment-released"),
  @JsonSubTypes.Type(value = AccountEvent.EnvironmentArchived.class, name = "environment-archived"),
  @JsonSubTypes.Type(value = AccountEvent.EnvironmentRevived.class, name = "environment-revived"),
  @JsonSubTypes.Type(value = AccountEvent.QuotasOverridden.class, name = "quotas-overridden"),
})
public sealed interface AccountEvent {

  /** A place was taken before the environment was made. */
  record EnvironmentReserved(EnvironmentId id, HostId host, String profile, long at)
      implements AccountEvent {}

  /** Its host has made it. */
  record EnvironmentPlaced(EnvironmentId id) implements AccountEvent {}

  /** It is gone, or could not be made. */
  record EnvironmentReleased(EnvironmentId id) implements AccountEvent {}

  record EnvironmentArchived(EnvironmentId id) implements AccountEvent {}

  record EnvironmentRevived(EnvironmentId id) implements AccountEvent {}

  /** {@code overrides} replace all earlier ones. */
  record QuotasOverridden(Map<String, Number> overrides, long at) implements AccountEvent {}
}
