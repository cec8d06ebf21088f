package io.envapi.environment;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import io.envapi.account.EnvironmentSpec;
import io.envapi.id.AccountId;
import io.envapi.id.ShellId;
import io.envapi.process.ProcessIdentity;
import io.envapi.shell.ShellEnd;
import io.envapi.shell.ShellIdentity;
import java.util.Optional;

/** What happened to an environment. Times are epoch ms. */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "type")
@JsonSubTypes({
  @JsonSubTypes.Type(value = EnvironmentEvent.Created.class, name = "created"),
  @JsonSubTypes.Type(value = EnvironmentEvent.ShellOpened.class, name = "shell-opened"),
  @JsonSubTypes.Type(value = EnvironmentEvent.ShellEnded.class, name = "shell-ended"),
  @JsonSubTypes.Type(value = EnvironmentEvent.Reset.class, name = "reset"),
  @JsonSubTypes.Type(value = EnvironmentEvent.Archived.class, name = "archived"),
  @JsonSubTypes.Type(value = EnvironmentEvent.Deleted.class, name = "deleted"),
})
public sealed interface EnvironmentEvent {

  /**
   * @param uid the system uid set aside for it
   */
  record Created(AccountId account, EnvironmentSpec spec, int uid, long at)
      implements EnvironmentEvent {}

  /**
   * @param holder the process that keeps the environment's sandbox, where the tier has one
   */
  record ShellOpened(ShellIdentity shell, Optional<ProcessIdentity> holder)
      implements EnvironmentEvent {

    public ShellOpened {
      // Not in the events of the first version.
      holder = holder == null ? Optional.empty() : holder;
    }
  }

  record ShellEnded(ShellId shell, ShellEnd end) implements EnvironmentEvent {}

  /** Its shells are forgotten and its files gone. */
  record Reset(long at) implements EnvironmentEvent {}

  record Archived(long at) implements EnvironmentEvent {}

  record Deleted(long at) implements EnvironmentEvent {}
}
