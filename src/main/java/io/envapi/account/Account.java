package io.envapi.account;

import io.envapi.Asks;
import io.envapi.CborSerializable;
import io.envapi.Supervised;
import io.envapi.Unanswered;
import io.envapi.failure.Failure;
import io.envapi.failure.Refusable;
import io.envapi.id.AccountId;
import io.envapi.id.EnvironmentId;
import io.envapi.id.HostId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.PreRestart;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.persistence.typed.PersistenceId;
import org.apache.pekko.persistence.typed.RecoveryCompleted;
import org.apache.pekko.persistence.typed.javadsl.CommandHandlerWithReply;
import org.apache.pekko.persistence.typed.javadsl.EventHandler;
import org.apache.pekko.persistence.typed.javadsl.EventSourcedBehaviorWithEnforcedReplies;
import org.apache.pekko.persistence.typed.javadsl.ReplyEffect;
import org.apache.pekko.persistence.typed.javadsl.RetentionCriteria;
import org.apache.pekko.persistence.typed.javadsl.SignalHandler;

/**
 * One account: which environments it has and where they are, and how much it may use.
 *
 * <p>A look-up here is both the check of ownership and the routing. Every check against a quota of
 * environments happens here, so that parallel creates cannot exceed it.
 */
public final class Account
    extends EventSourcedBehaviorWithEnforcedReplies<Account.Command, AccountEvent, AccountState> {

  /** What an account can be asked, at any time. */
  public sealed interface Command extends CborSerializable {}

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

  /** The answer to a create is overdue. */
  private record Settle(EnvironmentId id) implements Command {}

  /** What can happen to an environment that its account has to know. */
  public enum Change {
    ARCHIVED,
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

  private static final Duration OVERDUE = Duration.ofSeconds(60);
  private static final Duration SETTLE_AGAIN = Duration.ofSeconds(10);

  private final ActorContext<Command> context;
  private final Unanswered unanswered;
  private final AccountId id;
  private final Quotas defaults;
  private final Placer placer;
  private final Map<EnvironmentId, List<ActorRef<CreateReply>>> creating = new HashMap<>();

  public static Behavior<Command> create(AccountId id, Quotas defaults, Placer placer) {
    return Supervised.restarting(
        unanswered ->
            Behaviors.setup(context -> new Account(context, unanswered, id, defaults, placer)));
  }

  private Account(
      ActorContext<Command> context,
      Unanswered unanswered,
      AccountId id,
      Quotas defaults,
      Placer placer) {
    // An account's id may hold the separator, which the other way of making this does not take.
    super(PersistenceId.ofUniqueId("Account|" + id.value()));
    this.context = context;
    this.unanswered = unanswered;
    this.id = id;
    this.defaults = defaults;
    this.placer = placer;
  }

  @Override
  public AccountState emptyState() {
    return AccountState.EMPTY;
  }

  @Override
  public RetentionCriteria retentionCriteria() {
    return RetentionCriteria.snapshotEvery(100, 1).withDeleteEventsOnSnapshot();
  }

  @Override
  public EventHandler<AccountState, AccountEvent> eventHandler() {
    return AccountState::with;
  }

  @Override
  public SignalHandler<AccountState> signalHandler() {
    return newSignalHandlerBuilder()
        .onSignal(RecoveryCompleted.instance(), this::settleUnanswered)
        .onSignal(PreRestart.class, (state, signal) -> leaveCreating())
        .build();
  }

  @Override
  public CommandHandlerWithReply<Command, AccountEvent, AccountState> commandHandler() {
    return this::onCommand;
  }

  private ReplyEffect<AccountEvent, AccountState> onCommand(AccountState state, Command command) {
    unanswered.handled(command);
    return switch (command) {
      case Create create -> onCreate(state, create);
      case Find(var wanted, var replyTo) -> Effect().reply(replyTo, find(state, wanted));
      case Claims(var wanted, var replyTo) ->
          Effect()
              .reply(replyTo, new ClaimsReply(state.environments().containsKey(wanted.value())));
      case ListEnvironments(var replyTo) -> Effect().reply(replyTo, list(state));
      case ReadQuotas(var replyTo) -> Effect().reply(replyTo, quotas(state));
      case OverrideQuotas override -> {
        unanswered.hold(override);
        yield Effect()
            .persist(
                new AccountEvent.QuotasOverridden(override.overrides(), System.currentTimeMillis()))
            .thenRun((AccountState next) -> unanswered.handled(override))
            .thenReply(override.replyTo(), this::quotas);
      }
      case Changed changed -> onChanged(state, changed);
      case Placement placement -> onPlacement(state, placement);
      case Settle(var overdue) -> {
        settle(state, overdue);
        yield Effect().noReply();
      }
    };
  }

  private ReplyEffect<AccountEvent, AccountState> onCreate(AccountState state, Create create) {
    AccountState.Entry known = state.environments().get(create.id().value());
    if (known != null) {
      return onRepeated(known, create);
    }
    Quotas quotas = effective(state);
    EnvironmentSpec spec = create.spec().within(quotas);
    Optional<Failure> refusal =
        QuotaChecks.limits(spec.limits(), quotas)
            .or(() -> QuotaChecks.environments(state, spec, quotas));
    Optional<HostId> host = placer.choose();
    if (refusal.isPresent() || host.isEmpty()) {
      Failure failure = refusal.orElseGet(() -> new Failure.NoCapacity(5));
      return Effect().reply(create.replyTo(), new Refused(failure));
    }
    EnvironmentId fresh = create.id();
    unanswered.hold(create);
    return Effect()
        .persist(
            new AccountEvent.EnvironmentReserved(
                fresh, host.get(), spec.profile(), System.currentTimeMillis()))
        .thenRun(
            (AccountState next) -> {
              unanswered.handled(create);
              await(create);
              placer.place(host.get(), id, fresh, spec, context.getSelf().narrow());
              context.scheduleOnce(OVERDUE, context.getSelf(), new Settle(fresh));
            })
        .thenNoReply();
  }

  private ReplyEffect<AccountEvent, AccountState> onRepeated(
      AccountState.Entry known, Create create) {
    if (known.phase() == AccountState.Phase.RESERVED) {
      await(create);
      return Effect().noReply();
    }
    return Effect().reply(create.replyTo(), new Created(create.id(), known.host()));
  }

  private void await(Create create) {
    creating.computeIfAbsent(create.id(), _ -> new ArrayList<>()).add(create.replyTo());
  }

  private ReplyEffect<AccountEvent, AccountState> onPlacement(
      AccountState state, Placement placement) {
    EnvironmentId environment = placement.id();
    AccountState.Entry entry = state.environments().get(environment.value());
    if (entry == null || entry.phase() != AccountState.Phase.RESERVED) {
      return Effect().noReply();
    }
    return switch (placement) {
      case Placed _ ->
          answering(
              environment,
              new AccountEvent.EnvironmentPlaced(environment),
              new Created(environment, entry.host()));
      case NotPlaced(var _, var failure) ->
          answering(
              environment, new AccountEvent.EnvironmentReleased(environment), new Refused(failure));
    };
  }

  private ReplyEffect<AccountEvent, AccountState> answering(
      EnvironmentId placed, AccountEvent event, CreateReply reply) {
    return Effect()
        .persist(event)
        .thenRun(
            (AccountState next) -> {
              List<ActorRef<CreateReply>> waiting = creating.remove(placed);
              if (waiting != null) {
                waiting.forEach(replyTo -> replyTo.tell(reply));
              }
            })
        .thenNoReply();
  }

  private ReplyEffect<AccountEvent, AccountState> onChanged(AccountState state, Changed changed) {
    EnvironmentId environment = changed.id();
    AccountState.Entry entry = state.environments().get(environment.value());
    if (entry == null || !isNews(entry.phase(), changed.change())) {
      return Effect().reply(changed.replyTo(), new Noted());
    }
    AccountEvent event =
        switch (changed.change()) {
          case ARCHIVED -> new AccountEvent.EnvironmentArchived(environment);
          case REVIVED -> new AccountEvent.EnvironmentRevived(environment);
          case DELETED -> new AccountEvent.EnvironmentReleased(environment);
        };
    unanswered.hold(changed);
    return Effect()
        .persist(event)
        .thenRun((AccountState next) -> unanswered.handled(changed))
        .thenReply(changed.replyTo(), next -> new Noted());
  }

  /** An environment tells its state again after each restart; a create has its own answer. */
  private static boolean isNews(AccountState.Phase known, Change change) {
    return switch (change) {
      case ARCHIVED -> known == AccountState.Phase.ACTIVE;
      case REVIVED -> known == AccountState.Phase.ARCHIVED;
      case DELETED -> true;
    };
  }

  /**
   * A create that was never answered left a place behind. Its host is asked what became of it: an
   * environment that was made is the account's, though whoever asked for it may not know.
   */
  private void settleUnanswered(AccountState state) {
    state
        .environments()
        .forEach(
            (environment, entry) -> {
              if (entry.phase() == AccountState.Phase.RESERVED) {
                context.getSelf().tell(new Settle(new EnvironmentId(environment)));
              }
            });
  }

  private void settle(AccountState state, EnvironmentId overdue) {
    AccountState.Entry entry = state.environments().get(overdue.value());
    if (entry != null && entry.phase() == AccountState.Phase.RESERVED) {
      placer.settle(entry.host(), overdue, context.getSelf().narrow());
      context.scheduleOnce(SETTLE_AGAIN, context.getSelf(), new Settle(overdue));
    }
  }

  /** The environments may be made all the same, so this is no refusal for want of a journal. */
  private void leaveCreating() {
    Refused refused = new Refused(new Failure.HostUnavailable(2));
    creating.values().forEach(all -> all.forEach(replyTo -> replyTo.tell(refused)));
    creating.clear();
  }

  private FindReply find(AccountState state, EnvironmentId wanted) {
    AccountState.Entry entry = state.environments().get(wanted.value());
    if (entry == null || entry.phase() == AccountState.Phase.RESERVED) {
      return new Unknown();
    }
    return new Found(
        entry.host(), effective(state), state.counted(entry.profile()), state.counted());
  }

  private static Listed list(AccountState state) {
    return new Listed(
        state.environments().entrySet().stream()
            .filter(e -> e.getValue().phase() != AccountState.Phase.RESERVED)
            .map(
                e ->
                    new Located(
                        new EnvironmentId(e.getKey()), e.getValue().host(), e.getValue().profile()))
            .toList());
  }

  private QuotasReply quotas(AccountState state) {
    return new QuotasReply(effective(state), state.overrides(), defaults);
  }

  private Quotas effective(AccountState state) {
    return defaults.with(state.overrides());
  }
}
