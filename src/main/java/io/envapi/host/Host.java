package io.envapi.host;

import io.envapi.CborSerializable;
import io.envapi.account.Account;
import io.envapi.account.EnvironmentSpec;
import io.envapi.environment.Environment;
import io.envapi.id.AccountId;
import io.envapi.id.EnvironmentId;
import java.util.List;
import org.apache.pekko.actor.typed.ActorRef;

/** What may be asked of a host: one node with its data root, and the environments on it. */
public final class Host {

  private Host() {}

  /** A message to a host. */
  public sealed interface Command extends CborSerializable
      permits Deliver, Place, ListEnvironments, HostActor.Internal {}

  /** Hands a request to an environment; refused with {@code NotFound} where it is not here. */
  public record Deliver(EnvironmentId environment, Environment.Request request)
      implements Command {}

  /** Makes an environment. */
  public record Place(
      AccountId account,
      EnvironmentId environment,
      EnvironmentSpec spec,
      ActorRef<Account.Placement> replyTo)
      implements Command {}

  public record ListEnvironments(ActorRef<Listed> replyTo) implements Command {}

  /**
   * @param environments oldest first
   */
  public record Listed(List<Account.Located> environments) implements CborSerializable {}
}
