package io.envapi.host;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import io.envapi.id.AccountId;
import io.envapi.id.EnvironmentId;

/** What happened on a host. Times are epoch ms. */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "type")
@JsonSubTypes({
  @JsonSubTypes.Type(value = HostEvent.EnvironmentPlaced.class, name = "environment-placed"),
  @JsonSubTypes.Type(value = HostEvent.EnvironmentRemoved.class, name = "environment-removed"),
})
public sealed interface HostEvent {

  /**
   * @param uid the system uid set aside for it; not given again while it exists
   */
  record EnvironmentPlaced(EnvironmentId id, AccountId account, String profile, int uid, long at)
      implements HostEvent {}

  record EnvironmentRemoved(EnvironmentId id) implements HostEvent {}
}
