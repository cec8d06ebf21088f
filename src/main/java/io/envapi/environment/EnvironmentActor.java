package io.envapi.environment;

import io.envapi.Supervised;
import io.envapi.Unanswered;
import io.envapi.id.EnvironmentId;
import io.envapi.shell.ShellActor;
import java.util.List;
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
 * One environment: its record, its shells and its files.
 *
 * <p>While it is being prepared, emptied or removed, requests wait. After a restart it first ends
 * what the earlier service left running; a shell whose process is in the hands of this service
 * lives on.
 */
public final class EnvironmentActor
    extends EventSourcedBehaviorWithEnforcedReplies<
        Environment.Command, EnvironmentEvent, EnvironmentState> {

  /** What the actor tells itself. */
  sealed interface Internal extends Environment.Command
      permits EnvironmentStart.Step,
          EnvironmentOpening.Step,
          EnvironmentEmptying.Step,
          EnvironmentRemoval.Step,
          EnvironmentReaper.Step,
          EnvironmentDisk.Step,
          EnvironmentNotices.Step,
          Collected,
          EventsWaitOver,
          Ignored {}

  /** Commands that began and ended are to be stored. */
  record Collected() implements Internal {}

  record EventsWaitOver(Environment.AwaitEvents request) implements Internal {}

  record Ignored() implements Internal {}

  private final ActorContext<Environment.Command> context;
  private final Unanswered unanswered;
  private final EnvironmentId id;
  private final EnvironmentLife life;
  private final EnvironmentFeed feed;
  private final EnvironmentEffects effects;
  private final EnvironmentAnswers answers;
  private final EnvironmentDisk disk;
  private final EnvironmentStart start;
  private final EnvironmentOpening opening;
  private final EnvironmentEmptying emptying;
  private final EnvironmentRemoval removal;
  private final EnvironmentReaper reaper;
  private final EnvironmentNotices notices;

  /** The environment is deleted, and nothing of it is left. */
  public record EnvironmentGone(EnvironmentId id) {}

  public static Behavior<Environment.Command> create(
      EnvironmentId id, EnvironmentRuntime runtime, ActorRef<EnvironmentGone> host) {
    return Supervised.restarting(
        unanswered ->
            Behaviors.setup(
                context ->
                    Behaviors.withTimers(
                        timers -> {
                          timers.startTimerWithFixedDelay(
                              new EnvironmentReaper.Tick(),
                              runtime.shells().settings().reaperInterval());
                          return new EnvironmentActor(context, unanswered, id, runtime, host);
                        })));
  }

  static PersistenceId persistenceId(EnvironmentId id) {
    return PersistenceId.of("Environment", id.value());
  }

  private EnvironmentActor(
      ActorContext<Environment.Command> context,
      Unanswered unanswered,
      EnvironmentId id,
      EnvironmentRuntime runtime,
      ActorRef<EnvironmentGone> host) {
    super(persistenceId(id));
    this.context = context;
    this.unanswered = unanswered;
    this.id = id;
    this.life = new EnvironmentLife(id, runtime.sandbox().tier());
    this.feed = new EnvironmentFeed(context);
    this.effects = new EnvironmentEffects(Effect(), feed, () -> lastSequenceNumber(context));
    var work = new EnvironmentWork(id, runtime);
    var shells =
        new EnvironmentShells(
            context,
            runtime,
            context.messageAdapter(ShellActor.Notice.class, EnvironmentNotices.FromShell::new));
    var self = new EnvironmentSelf(id, context, unanswered, runtime, life, shells, work, effects);
    ActorRef<Environment.Command> me = context.getSelf();
    this.answers =
        new EnvironmentAnswers(
            id,
            life,
            shells,
            work,
            self.blocking(),
            runtime.fileThreads(),
            bytes -> me.tell(new EnvironmentDisk.Measured(bytes)));
    this.disk = new EnvironmentDisk(self);
    this.opening = new EnvironmentOpening(self);
    this.emptying = new EnvironmentEmptying(self);
    this.removal = new EnvironmentRemoval(self, feed, host);
    this.start = new EnvironmentStart(self, emptying, removal);
    this.reaper = new EnvironmentReaper(self, emptying);
    this.notices = new EnvironmentNotices(self, feed);
  }

  @Override
  public EnvironmentState emptyState() {
    return new EnvironmentState.Absent();
  }

  @Override
  public RetentionCriteria retentionCriteria() {
    return EnvironmentFeed.RETENTION;
  }

  @Override
  public EventHandler<EnvironmentState, EnvironmentEvent> eventHandler() {
    return EnvironmentState::with;
  }

  @Override
  public SignalHandler<EnvironmentState> signalHandler() {
    return newSignalHandlerBuilder()
        .onSignal(RecoveryCompleted.instance(), this::recovered)
        .build();
  }

  @Override
  public CommandHandlerWithReply<Environment.Command, EnvironmentEvent, EnvironmentState>
      commandHandler() {
    return this::onCommand;
  }

  private void recovered(EnvironmentState state) {
    switch (state) {
      case EnvironmentState.Absent absent -> life.busy(false);
      case EnvironmentState.Present present -> {
        life.lastUsed(present.updatedAt());
        start.takeUp(present);
      }
      case EnvironmentState.Gone gone -> removal.remove(gone, Optional.empty());
    }
  }

  private ReplyEffect<EnvironmentEvent, EnvironmentState> onCommand(
      EnvironmentState state, Environment.Command command) {
    return switch (command) {
      case Environment.AwaitEvents await when !(state instanceof EnvironmentState.Absent) -> {
        unanswered.handled(await);
        feed.await(await, lastSequenceNumber(context));
        yield effects.noReply();
      }
      case Environment.Request request when life.isBusy() -> effects.stash();
      case Environment.Request request -> {
        unanswered.handled(request);
        yield switch (state) {
          case EnvironmentState.Absent absent -> whileAbsent(request);
          case EnvironmentState.Present present
              when life.unprepared().isPresent()
                  && !(request instanceof Environment.Delete)
                  && !(request instanceof Environment.Create) ->
              effects.refuse(request, life.unprepared().get());
          case EnvironmentState.Present present -> whilePresent(present, request);
          case EnvironmentState.Gone gone -> effects.refuse(request, request.notFound(id));
        };
      }
      case Internal internal -> onInternal(state, internal);
    };
  }

  private ReplyEffect<EnvironmentEvent, EnvironmentState> whileAbsent(Environment.Request request) {
    if (request instanceof Environment.Create create && !removal.isLeaving()) {
      return start.create(create);
    }
    if (request instanceof Environment.Delete) {
      removal.neverMade();
    }
    return effects.refuse(request, request.notFound(id));
  }

  private ReplyEffect<EnvironmentEvent, EnvironmentState> whilePresent(
      EnvironmentState.Present present, Environment.Request request) {
    if (disk.isInDoubt(request)) {
      return disk.measureFor(request);
    }
    return switch (request) {
      case Environment.OpenShell open ->
          opening.open(present, WantedShell.shell(open), open.quotas());
      case Environment.RunOnce run -> opening.open(present, WantedShell.once(run), run.quotas());
      case Environment.Reset reset -> emptying.reset(present, reset);
      case Environment.Delete delete -> removal.delete(present, delete);
      case Environment.CloseShells close -> emptying.closeShells(present, close);
      case Environment.Archive archive -> emptying.archive(present, archive);
      case Environment.Request other -> {
        answer(present, other);
        yield effects.noReply();
      }
    };
  }

  /** Requests that store nothing. */
  private void answer(EnvironmentState.Present present, Environment.Request request) {
    switch (request) {
      case Environment.OpenShell _,
          Environment.RunOnce _,
          Environment.Reset _,
          Environment.CloseShells _,
          Environment.Archive _,
          Environment.Delete _ ->
          throw new IllegalStateException("a request that stores events");
      case Environment.Create create -> create.replyTo().tell(new Environment.Created());
      case Environment.Describe(var replyTo) ->
          replyTo.tell(new Environment.Described(life.view(present)));
      case Environment.ToShell toShell -> answers.toShell(present, toShell);
      case Environment.Summarise summarise -> answers.summary(present, summarise);
      case Environment.AwaitEvents await -> feed.await(await, lastSequenceNumber(context));
      case Environment.MeasureUsage measure -> answers.usage(present, measure);
      case Environment.ListShells list -> answers.shells(present, list);
      case Environment.ListProcesses list -> answers.processes(list);
      case Environment.SignalProcess signal -> answers.signal(signal);
      case Environment.RunFile run -> answers.file(present, run);
      case Environment.Transfer transfer -> answers.transfer(present, transfer);
    }
  }

  private ReplyEffect<EnvironmentEvent, EnvironmentState> onInternal(
      EnvironmentState state, Internal message) {
    unanswered.handled(message);
    return switch (message) {
      case EnvironmentStart.Step step -> start.on(state, step);
      case EnvironmentOpening.Step step -> opening.on(state, step);
      case EnvironmentEmptying.Step step -> emptying.on(state, step);
      case EnvironmentRemoval.Step step -> removal.on(state, step);
      case EnvironmentReaper.Step step -> reaper.on(state, step);
      case EnvironmentDisk.Step step -> disk.on(step);
      case EnvironmentNotices.Step step -> notices.on(state, step);
      case Collected() -> {
        List<EnvironmentEvent> collected = feed.take(state);
        yield collected.isEmpty() ? effects.noReply() : effects.store(collected).thenNoReply();
      }
      case EventsWaitOver(var request) -> {
        feed.waitOver(request, lastSequenceNumber(context));
        yield effects.noReply();
      }
      case Ignored() -> effects.noReply();
    };
  }
}
