package io.envapi.host;

import io.envapi.Asks;
import io.envapi.CborSerializable;
import io.envapi.account.Account;
import io.envapi.account.EnvironmentSpec;
import io.envapi.environment.Environment;
import io.envapi.failure.Failure;
import io.envapi.failure.Refusable;
import io.envapi.id.AccountId;
import io.envapi.id.EnvironmentId;
import io.envapi.id.HostId;
import io.envapi.sandbox.Layers;
import io.envapi.sandbox.SandboxTier;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.pekko.actor.typed.ActorRef;

/** What may be asked of a host: one node with its data root, and the environments on it. */
public final class Host {

  private Host() {}

  /** A message to a host. */
  public sealed interface Command extends CborSerializable
      permits Deliver,
          Place,
          Settle,
          ListEnvironments,
          ListPlaces,
          FindOwner,
          Describe,
          HostActor.Internal {}

  /** Hands a request to an environment; refused with {@code NotFound} where it is not here. */
  public record Deliver(EnvironmentId environment, Environment.Request request)
      implements Command, Refusable {

    @Override
    public void refuse(Failure failure) {
      request.refuse(failure);
    }
  }

  /** Makes an environment, unless it is there already. */
  public record Place(
      AccountId account,
      EnvironmentId environment,
      EnvironmentSpec spec,
      ActorRef<Account.Placement> replyTo)
      implements Command, Refusable {

    @Override
    public void refuse(Failure failure) {
      replyTo.tell(new Account.NotPlaced(environment, failure));
    }
  }

  /** Says what became of an environment that was to be made; not answered while that is unknown. */
  public record Settle(EnvironmentId environment, ActorRef<Account.Placement> replyTo)
      implements Command {}

  /** Asks whose environment this is. */
  public record FindOwner(EnvironmentId environment, ActorRef<Owner> replyTo)
      implements Command, Refusable {

    @Override
    public void refuse(Failure failure) {
      Asks.fail(replyTo, failure);
    }
  }

  public record Describe(ActorRef<Description> replyTo) implements Command, Refusable {

    @Override
    public void refuse(Failure failure) {
      Asks.fail(replyTo, failure);
    }
  }

  public record ListEnvironments(ActorRef<Listed> replyTo) implements Command, Refusable {

    @Override
    public void refuse(Failure failure) {
      Asks.fail(replyTo, failure);
    }
  }

  /** For whom the host has environments, also such as are not made yet. */
  public record ListPlaces(ActorRef<Places> replyTo) implements Command, Refusable {

    @Override
    public void refuse(Failure failure) {
      Asks.fail(replyTo, failure);
    }
  }

  public record Places(Map<EnvironmentId, AccountId> accounts) implements CborSerializable {}

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
