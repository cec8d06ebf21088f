package io.envapi.account;

import io.envapi.Asks;
import io.envapi.CborSerializable;
import io.envapi.failure.Failure;
import io.envapi.failure.Refusable;
import io.envapi.id.AccountId;
import io.envapi.id.EnvironmentId;
import io.envapi.id.HostId;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.pekko.actor.typed.ActorRef;

/**
 * What may be asked of an account, and what it answers.
 *
 * <p>A look-up here is both the check of ownership and the routing.
 */
public final class Account {

  private Account() {}

  /** A message to an account. */
  public sealed interface Command extends CborSerializable
      permits Asked, Placement, AccountActor.Internal {}

  /** A command that is answered; its ask fails where the account cannot. */
  public sealed interface Asked extends Command, Refusable {

    ActorRef<?> replyTo();

    @Override
    default void refuse(Failure failure) {
      Asks.fail(replyTo(), failure);
    }
  }

  /**
   * Makes an environment if the quotas allow one more. One that the account has already is not made
   * again.
   *
   * @param id drawn for it
   */
  public record Create(EnvironmentId id, EnvironmentSpec spec, ActorRef<CreateReply> replyTo)
      implements Asked {

    @Override
    public void refuse(Failure failure) {
      replyTo.tell(new Refused(failure));
    }
  }

  public record Find(EnvironmentId id, ActorRef<FindReply> replyTo) implements Asked {}

  /** Whether an environment is the account's, or may become it. */
  public record Claims(EnvironmentId id, ActorRef<ClaimsReply> replyTo) implements Asked {}

  public record ListEnvironments(ActorRef<Listed> replyTo) implements Asked {}

  public record ReadQuotas(ActorRef<QuotasReply> replyTo) implements Asked {}

  /** Replaces all overrides; each has passed {@link Quotas#invalid}. */
  public record OverrideQuotas(Map<String, Number> overrides, ActorRef<QuotasReply> replyTo)
      implements Asked {}

  /** What an environment tells its account of itself. Answered when that is stored. */
  public record Changed(EnvironmentId id, Change change, ActorRef<Noted> replyTo)
      implements Asked {}

  /** The answer of the host that was asked to make an environment. */
  public sealed interface Placement extends Command {

    EnvironmentId id();
  }

  public record Placed(EnvironmentId id) implements Placement {}

  public record NotPlaced(EnvironmentId id, Failure failure) implements Placement {}

  /** The host was asked what became of it, and has not made it. */
  public record Unmade(EnvironmentId id) implements Placement {}

  /** What can happen to an environment that its account has to know. */
  public enum Change {
    ARCHIVED,
    /** An archived one is to be used again; refused where the quotas allow no more. */
    REVIVING,
    REVIVED,
    DELETED
  }

  public sealed interface CreateReply extends CborSerializable {}

  public record Created(EnvironmentId id, HostId host) implements CreateReply {}

  public record Refused(Failure failure) implements CreateReply {}

  public sealed interface FindReply extends CborSerializable {}

  /**
   * @param inProfile the account's active environments in the profile of the one found
   */
  public record Found(HostId host, Quotas quotas, long inProfile, long inAccount)
      implements FindReply {}

  /** No such environment, or somebody else's. */
  public record Unknown() implements FindReply {}

  /**
   * @param environments oldest first
   */
  public record Listed(List<Located> environments) implements CborSerializable {}

  public record ClaimsReply(boolean claimed) implements CborSerializable {}

  public record Noted() implements CborSerializable {}

  /** Where an environment is. */
  public record Located(EnvironmentId id, HostId host, String profile) {}

  public record QuotasReply(Quotas effective, Map<String, Number> overrides, Quotas defaults)
      implements CborSerializable {}

  /** Makes environments on hosts. */
  public interface Placer {

    /** The host for a new environment; empty when there is none. */
    Optional<HostId> choose();

    /** Asks {@code host} to make an environment; the answer comes as a {@link Placement}. */
    void place(
        HostId host,
        AccountId account,
        EnvironmentId id,
        EnvironmentSpec spec,
        ActorRef<Placement> replyTo);

    /** Asks {@code host} whether it has made an environment; there may be no answer. */
    void settle(HostId host, EnvironmentId id, ActorRef<Placement> replyTo);
  }
}
