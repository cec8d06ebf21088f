package io.envapi.host;

import io.envapi.CborSerializable;
import io.envapi.account.Account;
import io.envapi.account.EnvironmentSpec;
import io.envapi.environment.Environment;
import io.envapi.id.AccountId;
import io.envapi.id.EnvironmentId;
import io.envapi.id.HostId;
import io.envapi.sandbox.Layers;
import io.envapi.sandbox.SandboxTier;
import java.util.List;
import java.util.Optional;
import org.apache.pekko.actor.typed.ActorRef;

/** What may be asked of a host: one node with its data root, and the environments on it. */
public final class Host {

  private Host() {}

  /** A message to a host. */
  public sealed interface Command extends CborSerializable
      permits Deliver, Place, ListEnvironments, FindOwner, Describe, HostActor.Internal {}

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

  /** Asks whose environment this is. */
  public record FindOwner(EnvironmentId environment, ActorRef<Owner> replyTo) implements Command {}

  public record Describe(ActorRef<Description> replyTo) implements Command {}

  public record ListEnvironments(ActorRef<Listed> replyTo) implements Command {}

  /** Empty where the environment is not here. */
  public record Owner(Optional<AccountId> account) implements CborSerializable {}

  /**
   * A host as operators see it.
   *
   * @param environments on it, active or archived
   * @param shells running
   * @param since when it was started, epoch ms
   */
  public record Description(
      HostId id, SandboxTier tier, Layers layers, long environments, long shells, long since)
      implements CborSerializable {}

  /**
   * @param environments oldest first
   */
  public record Listed(List<Account.Located> environments) implements CborSerializable {}
}
