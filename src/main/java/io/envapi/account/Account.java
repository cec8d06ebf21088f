package io.envapi.account;

import io.envapi.CborSerializable;
import io.envapi.Supervised;
import io.envapi.failure.Failure;
import io.envapi.id.AccountId;
import io.envapi.id.EnvironmentId;
import io.envapi.id.HostId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
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

  /** Makes an environment if the quotas allow one more. */
  public record Create(EnvironmentSpec spec, ActorRef<CreateReply> replyTo) implements Command {}

  public record Find(EnvironmentId id, ActorRef<FindReply> replyTo) implements Command {}

  public record ListEnvironments(ActorRef<Listed> replyTo) implements Command {}

  public record ReadQuotas(ActorRef<QuotasReply> replyTo) implements Command {}

  /** Replaces all overrides; each has passed {@link Quotas#invalid}. */
  public record OverrideQuotas(Map<String, Number> overrides, ActorRef<QuotasReply> replyTo)
      implements Command {}

  /** What an environment tells its account of itself. */
  public record Changed(EnvironmentId id, Change change) implements Command {}

  /** The answer of the host that was asked to make an environment. */
  public sealed interface Placement extends Command {}

  public record Placed(EnvironmentId id) implements Placement {}

  public record NotPlaced(EnvironmentId id, Failure failure) implements Placement {}

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
  }

  private final ActorContext<Command> context;
  private final AccountId id;
  private final Quotas defaults;
  private final Placer placer;
  private final Map<EnvironmentId, ActorRef<CreateReply>> creating = new HashMap<>();

  public static Behavior<Command> create(AccountId id, Quotas defaults, Placer placer) {
    Behavior<Command> account =
        Behaviors.setup(context -> new Account(context, id, defaults, placer));
    return Supervised.restarting(account);
  }

  private Account(ActorContext<Command> context, AccountId id, Quotas defaults, Placer placer) {
    super(PersistenceId.of("Account", id.value()));
    this.context = context;
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
        .onSignal(RecoveryCompleted.instance(), this::releaseUnanswered)
        .build();
  }

  @Override
  public CommandHandlerWithReply<Command, AccountEvent, AccountState> commandHandler() {
    return this::onCommand;
  }

  private ReplyEffect<AccountEvent, AccountState> onCommand(AccountState state, Command command) {
    return switch (command) {
      case Create create -> onCreate(state, create);
      case Find(var wanted, var replyTo) -> Effect().reply(replyTo, find(state, wanted));
      case ListEnvironments(var replyTo) -> Effect().reply(replyTo, list(state));
      case ReadQuotas(var replyTo) -> Effect().reply(replyTo, quotas(state));
      case OverrideQuotas(var overrides, var replyTo) ->
          Effect()
              .persist(new AccountEvent.QuotasOverridden(overrides, System.currentTimeMillis()))
              .thenReply(replyTo, this::quotas);
      case Changed(var changed, var change) -> onChanged(state, changed, change);
      case Placement placement -> onPlacement(state, placement);
    };
  }

  private ReplyEffect<AccountEvent, AccountState> onCreate(AccountState state, Create create) {
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
    EnvironmentId fresh = EnvironmentId.random();
    return Effect()
        .persist(
            new AccountEvent.EnvironmentReserved(
                fresh, host.get(), spec.profile(), System.currentTimeMillis()))
        .thenRun(
            (AccountState next) -> {
              creating.put(fresh, create.replyTo());
              placer.place(host.get(), id, fresh, spec, context.getSelf().narrow());
            })
        .thenNoReply();
  }

  private ReplyEffect<AccountEvent, AccountState> onPlacement(
      AccountState state, Placement placement) {
    return switch (placement) {
      case Placed(var placed) -> {
        AccountState.Entry entry = state.environments().get(placed.value());
        yield entry == null
            ? Effect().noReply()
            : answering(
                placed,
                new AccountEvent.EnvironmentPlaced(placed),
                new Created(placed, entry.host()));
      }
      case NotPlaced(var refused, var failure) ->
          answering(refused, new AccountEvent.EnvironmentReleased(refused), new Refused(failure));
    };
  }

  private ReplyEffect<AccountEvent, AccountState> answering(
      EnvironmentId placed, AccountEvent event, CreateReply reply) {
    return Effect()
        .persist(event)
        .thenRun(
            (AccountState next) -> {
              ActorRef<CreateReply> waiting = creating.remove(placed);
              if (waiting != null) {
                waiting.tell(reply);
              }
            })
        .thenNoReply();
  }

  private ReplyEffect<AccountEvent, AccountState> onChanged(
      AccountState state, EnvironmentId changed, Change change) {
    AccountState.Entry entry = state.environments().get(changed.value());
    if (entry == null || !isNews(entry.phase(), change)) {
      return Effect().noReply();
    }
    AccountEvent event =
        switch (change) {
          case ARCHIVED -> new AccountEvent.EnvironmentArchived(changed);
          case REVIVED -> new AccountEvent.EnvironmentRevived(changed);
          case DELETED -> new AccountEvent.EnvironmentReleased(changed);
        };
    return Effect().persist(event).thenNoReply();
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
   * A create that was never answered left a place behind. Whether its host made the environment is
   * unknown, nobody knows its id, and the host drops what its account does not have.
   */
  private void releaseUnanswered(AccountState state) {
    List<String> unanswered = new ArrayList<>();
    state
        .environments()
        .forEach(
            (environment, entry) -> {
              if (entry.phase() == AccountState.Phase.RESERVED) {
                unanswered.add(environment);
              }
            });
    unanswered.forEach(
        environment ->
            context
                .getSelf()
                .tell(new NotPlaced(new EnvironmentId(environment), new Failure.NoCapacity(1))));
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
