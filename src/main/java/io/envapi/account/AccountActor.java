package io.envapi.account;

import io.envapi.Supervised;
import io.envapi.Unanswered;
import io.envapi.failure.Failure;
import io.envapi.id.AccountId;
import io.envapi.id.EnvironmentId;
import io.envapi.id.HostId;
import java.time.Duration;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
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
 * <p>Every check against a quota of environments happens here, so that parallel creates cannot
 * exceed it.
 */
public final class AccountActor
    extends EventSourcedBehaviorWithEnforcedReplies<Account.Command, AccountEvent, AccountState> {

  /** What the actor tells itself. */
  sealed interface Internal extends Account.Command {}

  /** The answer to a create is overdue. */
  private record Settle(EnvironmentId id) implements Internal {}

  /** Hosts that have not said by now what became of earlier creates are not waited for. */
  private record SettleLater() implements Internal {}

  private static final Duration SETTLE_AGAIN = Duration.ofSeconds(10);
  private static final Duration SETTLE_FIRST = Duration.ofSeconds(5);

  private final ActorContext<Account.Command> context;
  private final Unanswered unanswered;
  private final AccountId id;
  private final Quotas defaults;
  private final Account.Placer placer;
  private final CreateWaiters waiters = new CreateWaiters();

  /** Places from before this actor whose hosts are being asked what became of them. */
  private final Set<EnvironmentId> inDoubt = new HashSet<>();

  public static Behavior<Account.Command> create(
      AccountId id, Quotas defaults, Account.Placer placer) {
    return Supervised.restarting(
        unanswered ->
            Behaviors.setup(
                context -> new AccountActor(context, unanswered, id, defaults, placer)));
  }

  private AccountActor(
      ActorContext<Account.Command> context,
      Unanswered unanswered,
      AccountId id,
      Quotas defaults,
      Account.Placer placer) {
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
  public CommandHandlerWithReply<Account.Command, AccountEvent, AccountState> commandHandler() {
    return this::onCommand;
  }

  private ReplyEffect<AccountEvent, AccountState> onCommand(
      AccountState state, Account.Command command) {
    if (isInDoubt(command)) {
      return Effect().stash();
    }
    unanswered.handled(command);
    return switch (command) {
      case Account.Create create -> onCreate(state, create);
      case Account.Find(var wanted, var replyTo) -> Effect().reply(replyTo, find(state, wanted));
      case Account.Claims(var wanted, var replyTo) ->
          Effect()
              .reply(
                  replyTo,
                  new Account.ClaimsReply(state.environments().containsKey(wanted.value())));
      case Account.ListEnvironments(var replyTo) ->
          Effect().reply(replyTo, new Account.Listed(state.located()));
      case Account.ReadQuotas(var replyTo) -> Effect().reply(replyTo, quotas(state));
      case Account.OverrideQuotas override -> {
        unanswered.hold(override);
        yield Effect()
            .persist(
                new AccountEvent.QuotasOverridden(override.overrides(), System.currentTimeMillis()))
            .thenRun((AccountState next) -> unanswered.handled(override))
            .thenReply(override.replyTo(), this::quotas);
      }
      case Account.Changed changed -> onChanged(state, changed);
      case Account.Placement placement -> onPlacement(state, placement);
      case Settle(var overdue) -> {
        settle(state, overdue);
        yield Effect().noReply();
      }
      case SettleLater() -> {
        inDoubt.clear();
        yield Effect().noReply().thenUnstashAll();
      }
    };
  }

  /**
   * Whether the answer depends on what became of a place. Otherwise a create that was cut off would
   * count against the next one, and a list leave out what it made.
   */
  private boolean isInDoubt(Account.Command command) {
    return switch (command) {
      case Account.Create create -> !inDoubt.isEmpty() && !inDoubt.contains(create.id());
      case Account.ListEnvironments _ -> !inDoubt.isEmpty();
      case Account.Find find -> inDoubt.contains(find.id());
      case Account.Claims _,
          Account.ReadQuotas _,
          Account.OverrideQuotas _,
          Account.Changed _,
          Account.Placement _,
          Internal _ ->
          false;
    };
  }

  private ReplyEffect<AccountEvent, AccountState> onCreate(
      AccountState state, Account.Create create) {
    AccountState.Entry known = state.environments().get(create.id().value());
    if (known != null) {
      return onRepeated(known, create);
    }
    Quotas quotas = effective(state);
    EnvironmentSpec spec = create.spec().within(quotas);
    Optional<Failure> refusal =
        QuotaChecks.limits(spec.limits(), quotas)
            .or(
                () ->
                    QuotaChecks.environments(
                        state,
                        spec.profile(),
                        spec.choices().environmentsPerProfile(quotas),
                        quotas));
    if (refusal.isPresent()) {
      return refused(create, refusal.get());
    }
    // Who is chosen counts as having one more: not for a create that is refused.
    Optional<HostId> host = placer.choose();
    return host.isPresent()
        ? reserve(create, spec, host.get())
        : refused(create, new Failure.NoCapacity(5));
  }

  private ReplyEffect<AccountEvent, AccountState> refused(Account.Create create, Failure failure) {
    return Effect().reply(create.replyTo(), new Account.Refused(failure));
  }

  private ReplyEffect<AccountEvent, AccountState> reserve(
      Account.Create create, EnvironmentSpec spec, HostId host) {
    EnvironmentId fresh = create.id();
    unanswered.hold(create);
    return Effect()
        .persist(
            new AccountEvent.EnvironmentReserved(
                fresh, host, spec.profile(), System.currentTimeMillis()))
        .thenRun(
            (AccountState next) -> {
              unanswered.handled(create);
              waiters.add(create);
              placer.place(host, id, fresh, spec, context.getSelf().narrow());
              context.scheduleOnce(CreateWaiters.OVERDUE, context.getSelf(), new Settle(fresh));
            })
        .thenNoReply();
  }

  private ReplyEffect<AccountEvent, AccountState> onRepeated(
      AccountState.Entry known, Account.Create create) {
    if (known.phase() == AccountState.Phase.RESERVED) {
      waiters.add(create);
      return Effect().noReply();
    }
    return Effect().reply(create.replyTo(), new Account.Created(create.id(), known.host()));
  }

  private ReplyEffect<AccountEvent, AccountState> onPlacement(
      AccountState state, Account.Placement placement) {
    EnvironmentId environment = placement.id();
    inDoubt.remove(environment);
    AccountState.Entry entry = state.environments().get(environment.value());
    if (entry == null || entry.phase() != AccountState.Phase.RESERVED) {
      return Effect().noReply().thenUnstashAll();
    }
    return switch (placement) {
      case Account.Placed _ ->
          answering(
              environment,
              new AccountEvent.EnvironmentPlaced(environment),
              new Account.Created(environment, entry.host()));
      case Account.NotPlaced(var _, var failure) ->
          answering(
              environment,
              new AccountEvent.EnvironmentReleased(environment),
              new Account.Refused(failure));
      case Account.Unmade _ -> onUnmade(state, environment, entry.host());
    };
  }

  /** Made now if somebody waits: it was asked for again after the service that was to make it. */
  private ReplyEffect<AccountEvent, AccountState> onUnmade(
      AccountState state, EnvironmentId environment, HostId host) {
    Optional<Account.Create> wanted = waiters.wanted(environment);
    if (wanted.isEmpty()) {
      return answering(
          environment,
          new AccountEvent.EnvironmentReleased(environment),
          new Account.Refused(new Failure.NoCapacity(1)));
    }
    EnvironmentSpec spec = wanted.get().spec().within(effective(state));
    placer.place(host, id, environment, spec, context.getSelf().narrow());
    return Effect().noReply().thenUnstashAll();
  }

  private ReplyEffect<AccountEvent, AccountState> answering(
      EnvironmentId placed, AccountEvent event, Account.CreateReply reply) {
    return Effect()
        .persist(event)
        .thenRun((AccountState next) -> waiters.answer(placed, reply))
        .thenNoReply()
        .thenUnstashAll();
  }

  private ReplyEffect<AccountEvent, AccountState> onChanged(
      AccountState state, Account.Changed changed) {
    EnvironmentId environment = changed.id();
    AccountState.Entry entry = state.environments().get(environment.value());
    if (entry == null || !isNews(entry.phase(), changed.change())) {
      return Effect().reply(changed.replyTo(), new Account.Noted());
    }
    Optional<Failure> refusal = refusal(state, entry, changed.change());
    if (refusal.isPresent()) {
      changed.refuse(refusal.get());
      return Effect().noReply();
    }
    AccountEvent event =
        switch (changed.change()) {
          case ARCHIVED -> new AccountEvent.EnvironmentArchived(environment);
          case REVIVING, REVIVED -> new AccountEvent.EnvironmentRevived(environment);
          case DELETED -> new AccountEvent.EnvironmentReleased(environment);
        };
    unanswered.hold(changed);
    return Effect()
        .persist(event)
        .thenRun((AccountState next) -> unanswered.handled(changed))
        .thenReply(changed.replyTo(), next -> new Account.Noted());
  }

  /** What has happened is only noted; what is to happen is weighed. */
  private Optional<Failure> refusal(
      AccountState state, AccountState.Entry entry, Account.Change change) {
    Quotas quotas = effective(state);
    return change == Account.Change.REVIVING
        ? QuotaChecks.environments(
            state, entry.profile(), quotas.maxEnvironmentsPerProfile(), quotas)
        : Optional.empty();
  }

  /** An environment tells its state again after each restart; a create has its own answer. */
  private static boolean isNews(AccountState.Phase known, Account.Change change) {
    return switch (change) {
      case ARCHIVED -> known == AccountState.Phase.ACTIVE;
      case REVIVING, REVIVED -> known == AccountState.Phase.ARCHIVED;
      case DELETED -> true;
    };
  }

  /**
   * A create that was never answered left a place behind. Its host is asked what became of it: an
   * environment that was made is the account's, though whoever asked for it may not know.
   */
  private void settleUnanswered(AccountState state) {
    inDoubt.addAll(state.reserved());
    inDoubt.forEach(environment -> context.getSelf().tell(new Settle(environment)));
    if (!inDoubt.isEmpty()) {
      context.scheduleOnce(SETTLE_FIRST, context.getSelf(), new SettleLater());
    }
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
    waiters.answerAll(new Account.Refused(new Failure.HostUnavailable(2)));
  }

  private Account.FindReply find(AccountState state, EnvironmentId wanted) {
    AccountState.Entry entry = state.environments().get(wanted.value());
    if (entry == null || entry.phase() == AccountState.Phase.RESERVED) {
      return new Account.Unknown();
    }
    return new Account.Found(
        entry.host(), effective(state), state.counted(entry.profile()), state.counted());
  }

  private Account.QuotasReply quotas(AccountState state) {
    return new Account.QuotasReply(effective(state), state.overrides(), defaults);
  }

  private Quotas effective(AccountState state) {
    return defaults.with(state.overrides());
  }
}
