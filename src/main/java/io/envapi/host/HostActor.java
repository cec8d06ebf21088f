package io.envapi.host;

import io.envapi.Supervised;
import io.envapi.Unanswered;
import io.envapi.account.Account;
import io.envapi.environment.Environment;
import io.envapi.environment.EnvironmentActor;
import io.envapi.environment.EnvironmentRuntime;
import io.envapi.failure.Failure;
import io.envapi.id.AccountId;
import io.envapi.id.EnvironmentId;
import io.envapi.id.HostId;
import io.envapi.sandbox.SandboxSettings;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.TimerScheduler;
import org.apache.pekko.persistence.typed.PersistenceId;
import org.apache.pekko.persistence.typed.RecoveryCompleted;
import org.apache.pekko.persistence.typed.javadsl.CommandHandlerWithReply;
import org.apache.pekko.persistence.typed.javadsl.EventHandler;
import org.apache.pekko.persistence.typed.javadsl.EventSourcedBehaviorWithEnforcedReplies;
import org.apache.pekko.persistence.typed.javadsl.ReplyEffect;
import org.apache.pekko.persistence.typed.javadsl.RetentionCriteria;
import org.apache.pekko.persistence.typed.javadsl.SignalHandler;

/**
 * One host: knows which environments are on it, and starts their actors when they are asked for.
 * After a restart it starts all of them, a few at a time, so that each ends what was left running.
 */
public final class HostActor
    extends EventSourcedBehaviorWithEnforcedReplies<Host.Command, HostEvent, HostState> {

  private static final Duration CREATION = Duration.ofSeconds(30);
  private static final Duration WARM_UP = Duration.ofMillis(20);
  private static final int WARM_UP_BATCH = 16;

  /** What the actor tells itself. */
  sealed interface Internal extends Host.Command {}

  private record Answered(Host.Place place, Environment.CreateReply reply) implements Internal {}

  /** The environment did not say in time whether it was made. */
  private record Silent(Host.Place place) implements Internal {}

  private record Settled(Host.Settle settle, Environment.DescribeReply reply) implements Internal {}

  private record Ignored() implements Internal {}

  private record Gone(EnvironmentId id) implements Internal {}

  private record WarmUp() implements Internal {}

  private final ActorContext<Host.Command> context;
  private final TimerScheduler<Host.Command> timers;
  private final Unanswered unanswered;
  private final HostId id;
  private final EnvironmentRuntime runtime;
  private final SandboxSettings settings;
  private final ActorRef<EnvironmentActor.EnvironmentGone> gone;
  private final Map<EnvironmentId, ActorRef<Environment.Command>> environments = new HashMap<>();
  private final Map<EnvironmentId, Host.Place> again = new HashMap<>();

  /** Part of an actor's name: the one before it under the same id may still be stopping. */
  private long spawned;

  public static Behavior<Host.Command> create(
      HostId id, EnvironmentRuntime runtime, SandboxSettings settings) {
    return Supervised.restarting(
        unanswered ->
            Behaviors.setup(
                context ->
                    Behaviors.withTimers(
                        timers ->
                            new HostActor(context, timers, unanswered, id, runtime, settings))));
  }

  private HostActor(
      ActorContext<Host.Command> context,
      TimerScheduler<Host.Command> timers,
      Unanswered unanswered,
      HostId id,
      EnvironmentRuntime runtime,
      SandboxSettings settings) {
    super(PersistenceId.of("Host", id.value()));
    this.context = context;
    this.timers = timers;
    this.unanswered = unanswered;
    this.id = id;
    this.runtime = runtime;
    this.settings = settings;
    this.gone =
        context.messageAdapter(EnvironmentActor.EnvironmentGone.class, g -> new Gone(g.id()));
  }

  @Override
  public HostState emptyState() {
    return HostState.EMPTY;
  }

  @Override
  public RetentionCriteria retentionCriteria() {
    return RetentionCriteria.snapshotEvery(100, 1).withDeleteEventsOnSnapshot();
  }

  @Override
  public EventHandler<HostState, HostEvent> eventHandler() {
    return HostState::with;
  }

  @Override
  public SignalHandler<HostState> signalHandler() {
    return newSignalHandlerBuilder()
        .onSignal(
            RecoveryCompleted.instance(),
            state -> timers.startTimerWithFixedDelay(new WarmUp(), Duration.ZERO, WARM_UP))
        .build();
  }

  @Override
  public CommandHandlerWithReply<Host.Command, HostEvent, HostState> commandHandler() {
    return this::onCommand;
  }

  private ReplyEffect<HostEvent, HostState> onCommand(HostState state, Host.Command command) {
    unanswered.handled(command);
    return switch (command) {
      case Host.Deliver(var environment, var request) -> onDeliver(state, environment, request);
      case Host.Place place -> onPlace(state, place);
      case Host.Settle settle -> {
        settle(state, settle);
        yield Effect().noReply();
      }
      case Host.ListEnvironments(var replyTo) -> Effect().reply(replyTo, listed(state));
      case Host.ListPlaces(var replyTo) -> Effect().reply(replyTo, places(state));
      case Host.FindOwner(var environment, var replyTo) ->
          Effect().reply(replyTo, new Host.Owner(state.owner(environment)));
      case Host.Describe(var replyTo) -> Effect().reply(replyTo, description(state));
      case Internal internal -> onInternal(state, internal);
    };
  }

  private Host.Description description(HostState state) {
    return new Host.Description(
        id,
        runtime.sandbox().tier(),
        runtime.sandbox().layers(),
        state.environments().size(),
        runtime.processes().count(),
        context.getSystem().startTime());
  }

  private ReplyEffect<HostEvent, HostState> onDeliver(
      HostState state, EnvironmentId environment, Environment.Request request) {
    if (state.has(environment)) {
      actor(environment).tell(request);
    } else {
      request.refuse(request.notFound(environment));
    }
    return Effect().noReply();
  }

  private ReplyEffect<HostEvent, HostState> onPlace(HostState state, Host.Place place) {
    HostState.Entry placed = state.environments().get(place.environment().value());
    if (placed != null) {
      make(place, placed.uid());
      return Effect().noReply();
    }
    Optional<Integer> uid = state.nextUid(settings.uidBase(), settings.uidCount());
    if (uid.isEmpty()) {
      return Effect()
          .reply(
              place.replyTo(),
              new Account.NotPlaced(place.environment(), new Failure.NoCapacity(60)));
    }
    unanswered.hold(place);
    return Effect()
        .persist(
            new HostEvent.EnvironmentPlaced(
                place.environment(),
                place.account(),
                place.spec().profile(),
                uid.get(),
                System.currentTimeMillis()))
        .thenRun(
            (HostState next) -> {
              unanswered.handled(place);
              make(place, uid.get());
            })
        .thenNoReply();
  }

  private void make(Host.Place place, int uid) {
    context.ask(
        Environment.CreateReply.class,
        actor(place.environment()),
        CREATION,
        (ActorRef<Environment.CreateReply> replyTo) ->
            new Environment.Create(place.account(), place.spec(), uid, replyTo),
        (reply, failure) -> failure == null ? new Answered(place, reply) : new Silent(place));
  }

  private void settle(HostState state, Host.Settle settle) {
    if (!state.has(settle.environment())) {
      settle.replyTo().tell(new Account.Unmade(settle.environment()));
      return;
    }
    context.ask(
        Environment.DescribeReply.class,
        actor(settle.environment()),
        CREATION,
        Environment.Describe::new,
        (reply, failure) -> failure == null ? new Settled(settle, reply) : new Ignored());
  }

  private void onSettled(Host.Settle settle, Environment.DescribeReply reply) {
    EnvironmentId environment = settle.environment();
    switch (reply) {
      case Environment.Described _ -> settle.replyTo().tell(new Account.Placed(environment));
      case Environment.Refused(Failure.NotFound _) -> {
        drop(environment);
        settle.replyTo().tell(new Account.Unmade(environment));
      }
      case Environment.Refused _ -> {}
    }
  }

  /** Has an environment removed that nobody knows; it says when it is gone. */
  private void drop(EnvironmentId environment) {
    context.ask(
        Environment.DeleteReply.class,
        actor(environment),
        CREATION,
        Environment.Delete::new,
        (reply, failure) -> new Ignored());
  }

  private ReplyEffect<HostEvent, HostState> onInternal(HostState state, Internal message) {
    return switch (message) {
      case Answered(var place, Environment.Created()) ->
          Effect().reply(place.replyTo(), new Account.Placed(place.environment()));
      case Answered(var place, Environment.Refused(Failure.NotFound _)) -> onLeaving(state, place);
      case Answered(var place, Environment.Refused(var failure)) ->
          Effect()
              .persist(new HostEvent.EnvironmentRemoved(place.environment()))
              .thenRun((HostState next) -> stop(place.environment()))
              .thenReply(
                  place.replyTo(), next -> new Account.NotPlaced(place.environment(), failure));
      case Silent(var place) -> {
        drop(place.environment());
        yield Effect()
            .reply(
                place.replyTo(),
                new Account.NotPlaced(place.environment(), new Failure.HostUnavailable(5)));
      }
      case Settled(var settle, var reply) -> {
        onSettled(settle, reply);
        yield Effect().noReply();
      }
      case Ignored() -> Effect().noReply();
      case Gone(var removed) when !state.has(removed) -> Effect().noReply();
      case Gone(var removed) ->
          Effect()
              .persist(new HostEvent.EnvironmentRemoved(removed))
              .thenRun(
                  (HostState next) -> {
                    stop(removed);
                    Optional.ofNullable(again.remove(removed)).ifPresent(context.getSelf()::tell);
                  })
              .thenNoReply();
      case WarmUp() -> onWarmUp(state);
    };
  }

  /** Asked for again under the id of one that is being removed: made when that is gone. */
  private ReplyEffect<HostEvent, HostState> onLeaving(HostState state, Host.Place place) {
    if (!state.has(place.environment())) {
      return onPlace(state, place);
    }
    again.put(place.environment(), place);
    return Effect().noReply();
  }

  private ReplyEffect<HostEvent, HostState> onWarmUp(HostState state) {
    List<EnvironmentId> cold =
        state.environments().keySet().stream()
            .map(EnvironmentId::new)
            .filter(e -> !environments.containsKey(e))
            .limit(WARM_UP_BATCH)
            .toList();
    if (cold.isEmpty()) {
      timers.cancel(new WarmUp());
    }
    cold.forEach(this::actor);
    return Effect().noReply();
  }

  private ActorRef<Environment.Command> actor(EnvironmentId environment) {
    return environments.computeIfAbsent(
        environment,
        e -> context.spawn(EnvironmentActor.create(e, runtime, gone), e.value() + "." + ++spawned));
  }

  private void stop(EnvironmentId environment) {
    ActorRef<Environment.Command> actor = environments.remove(environment);
    if (actor != null) {
      context.stop(actor);
    }
  }

  private static Host.Places places(HostState state) {
    Map<EnvironmentId, AccountId> accounts = new LinkedHashMap<>();
    state.environments().forEach((id, e) -> accounts.put(new EnvironmentId(id), e.account()));
    return new Host.Places(accounts);
  }

  private Host.Listed listed(HostState state) {
    return new Host.Listed(
        state.environments().entrySet().stream()
            .map(
                e -> new Account.Located(new EnvironmentId(e.getKey()), id, e.getValue().profile()))
            .toList());
  }
}
