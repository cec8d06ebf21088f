package io.envapi.environment;

import io.envapi.Supervised;
import io.envapi.Unanswered;
import io.envapi.account.Account;
import io.envapi.account.Quotas;
import io.envapi.audit.AuditEvent;
import io.envapi.failure.Failure;
import io.envapi.failure.Refusable;
import io.envapi.failure.Result;
import io.envapi.id.AccountId;
import io.envapi.id.EnvironmentId;
import io.envapi.id.ShellId;
import io.envapi.process.ProcessIdentity;
import io.envapi.sandbox.Workspace;
import io.envapi.shell.ShellActor;
import io.envapi.shell.ShellIdentity;
import io.envapi.shell.ShellProcess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.persistence.typed.PersistenceId;
import org.apache.pekko.persistence.typed.RecoveryCompleted;
import org.apache.pekko.persistence.typed.javadsl.CommandHandlerWithReply;
import org.apache.pekko.persistence.typed.javadsl.EffectBuilder;
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
  sealed interface Internal extends Environment.Command {}

  private record Prepared(
      Result<Workspace> workspace, Optional<Environment.Create> create, int killed)
      implements Internal, Refusable {

    @Override
    public void refuse(Failure failure) {
      create.ifPresent(c -> c.refuse(failure));
    }
  }

  private record PrepareAgain() implements Internal {}

  private record ShellStarted(
      EnvironmentShells.Wanted wanted, String cwd, Result<ShellProcess> process)
      implements Internal, Refusable {

    @Override
    public void refuse(Failure failure) {
      wanted.request().refuse(failure);
    }
  }

  private record FromShell(ShellActor.Notice notice) implements Internal {}

  /** Commands that began and ended are to be stored. */
  record Collected() implements Internal {}

  record EventsWaitOver(Environment.AwaitEvents request) implements Internal {}

  /** What was begun goes on after a failure, so its request is not refused as without effect. */
  private sealed interface Finishing extends Internal, Refusable {

    Optional<? extends Environment.Request> request();

    @Override
    default void refuse(Failure failure) {
      request().ifPresent(r -> r.refuse(new Failure.HostUnavailable(2)));
    }
  }

  private record Emptied(Optional<Environment.EmptyingRequest> request) implements Finishing {}

  private record ShellsClosed(Environment.CloseShells request) implements Internal {}

  private record Removed(Optional<Environment.Delete> request) implements Finishing {}

  /**
   * @param everywhere whether its account and the journal have done so too
   */
  private record Forgotten(Optional<Environment.Delete> request, boolean everywhere)
      implements Finishing {}

  private record ForgetAgain() implements Internal {}

  private record Tick() implements Internal {}

  /** {@code idleSince} is empty when the environment is to stay. */
  private record Reap(Optional<Long> idleSince) implements Internal {}

  private record DiskMeasured(long bytes) implements Internal {}

  private record Ignored() implements Internal {}

  private static final Duration AGAIN = Duration.ofSeconds(5);
  private static final Duration SPARE_WAITS = Duration.ofMinutes(1);

  private final ActorContext<Environment.Command> context;
  private final Unanswered unanswered;
  private final EnvironmentId id;
  private final EnvironmentRuntime runtime;
  private final ActorRef<EnvironmentGone> host;
  private final EnvironmentShells shells;
  private final EnvironmentWork work;
  private final EnvironmentLife life;
  private final EnvironmentAnswers answers;
  private final EnvironmentFeed feed;
  private boolean busy = true;

  /** Why there is no workspace, after a recovery. */
  private Optional<Failure> unprepared = Optional.empty();

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
                              new Tick(), runtime.shells().settings().reaperInterval());
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
    this.runtime = runtime;
    this.host = host;
    this.shells =
        new EnvironmentShells(
            context, runtime, context.messageAdapter(ShellActor.Notice.class, FromShell::new));
    this.work = new EnvironmentWork(id, runtime);
    this.life = new EnvironmentLife(id, runtime.sandbox().tier());
    this.feed = new EnvironmentFeed(context);
    ActorRef<Environment.Command> self = context.getSelf();
    this.answers =
        new EnvironmentAnswers(
            id,
            life,
            shells,
            work,
            runtime.shells().blocking(),
            bytes -> self.tell(new DiskMeasured(bytes)));
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

  private ReplyEffect<EnvironmentEvent, EnvironmentState> onCommand(
      EnvironmentState state, Environment.Command command) {
    return switch (command) {
      case Environment.AwaitEvents await when !(state instanceof EnvironmentState.Absent) -> {
        unanswered.handled(await);
        feed.await(await, lastSequenceNumber(context));
        yield Effect().noReply();
      }
      case Environment.Request request when busy -> Effect().stash();
      case Environment.Request request -> {
        unanswered.handled(request);
        yield switch (state) {
          case EnvironmentState.Absent absent -> whileAbsent(request);
          case EnvironmentState.Present present
              when unprepared.isPresent()
                  && !(request instanceof Environment.Delete)
                  && !(request instanceof Environment.Create) ->
              refuse(request, unprepared.get());
          case EnvironmentState.Present present -> whilePresent(present, request);
          case EnvironmentState.Gone gone -> refuse(request, request.notFound(id));
        };
      }
      case Internal internal -> onInternal(state, internal);
    };
  }

  // --- the beginning ---

  private void recovered(EnvironmentState state) {
    switch (state) {
      case EnvironmentState.Absent absent -> busy = false;
      case EnvironmentState.Present present -> {
        life.lastUsed(present.updatedAt());
        takeUp(present);
      }
      case EnvironmentState.Gone gone -> remove(gone.uid(), Optional.empty());
    }
  }

  private void takeUp(EnvironmentState.Present present) {
    List<ProcessIdentity> lost = lost(present);
    later(
        () -> work.takeUp(present, lost),
        taken -> new Prepared(taken.workspace(), Optional.empty(), taken.killed()));
  }

  /** What the journal says is running and this service did not start. */
  private List<ProcessIdentity> lost(EnvironmentState.Present present) {
    return Stream.concat(
            present.running().stream()
                .filter(s -> runtime.processes().find(s.identity().id()).isEmpty())
                .flatMap(s -> Stream.of(s.identity().process(), s.identity().shell())),
            present
                .holder()
                .filter(h -> !runtime.sandbox().holder(id).equals(Optional.of(h)))
                .stream())
        .toList();
  }

  private ReplyEffect<EnvironmentEvent, EnvironmentState> whileAbsent(Environment.Request request) {
    if (request instanceof Environment.Create create) {
      busy = true;
      later(
          () -> runtime.sandbox().prepare(id, create.uid()),
          ready -> new Prepared(ready, Optional.of(create), 0));
      return Effect().noReply();
    }
    if (request instanceof Environment.Delete) {
      // The host has a place for it that a create left behind which was never finished.
      host.tell(new EnvironmentGone(id));
    }
    return refuse(request, request.notFound(id));
  }

  private ReplyEffect<EnvironmentEvent, EnvironmentState> onPrepared(
      EnvironmentState state, Prepared prepared) {
    return switch (prepared.workspace()) {
      case Result.Refused<Workspace>(var failure) -> {
        prepared.create().ifPresent(c -> c.refuse(failure));
        if (state instanceof EnvironmentState.Present) {
          unprepared = Optional.of(failure);
          context.scheduleOnce(AGAIN, context.getSelf(), new PrepareAgain());
        }
        busy = false;
        yield Effect().none().thenNoReply().thenUnstashAll();
      }
      case Result.Ok<Workspace>(var ready) -> {
        unprepared = Optional.empty();
        life.prepared(ready);
        yield prepared.create().isPresent()
            ? created(prepared.create().get())
            : takenUp(state, prepared.killed());
      }
    };
  }

  private ReplyEffect<EnvironmentEvent, EnvironmentState> created(Environment.Create create) {
    life.lastUsed(now());
    unanswered.hold(create);
    return store(new EnvironmentEvent.Created(create.account(), create.spec(), create.uid(), now()))
        .thenRun(
            (EnvironmentState next) -> {
              unanswered.handled(create);
              busy = false;
              create.replyTo().tell(new Environment.Created());
            })
        .thenNoReply()
        .thenUnstashAll();
  }

  /** Shells that were running have actors again; those without a process report their end. */
  private ReplyEffect<EnvironmentEvent, EnvironmentState> takenUp(
      EnvironmentState state, int killed) {
    List<ShellId> lost = List.of();
    if (state instanceof EnvironmentState.Present present) {
      present.running().forEach(s -> shells.actor(s, life.workspace()));
      lost = shells.lost(present.running());
      switch (present.emptying()) {
        case NONE -> {}
        case FOR_RESET, FOR_ARCHIVE -> {
          busy = true;
          empty(present, Optional.empty());
          return reconciled(lost, killed).thenNoReply();
        }
      }
      shells.awaitEndOf(lost);
      // The account may have missed it: it is told after the event is stored.
      tell(present, present.isArchived() ? Account.Change.ARCHIVED : Account.Change.REVIVED);
    }
    busy = shells.awaitsEnd();
    return reconciled(lost, killed).thenNoReply().thenUnstashAll();
  }

  private EffectBuilder<EnvironmentEvent, EnvironmentState> reconciled(
      List<ShellId> lost, int killed) {
    return lost.isEmpty() && killed == 0
        ? Effect().none()
        : store(new EnvironmentEvent.Reconciled(lost, killed, now()));
  }

  // --- requests ---

  private ReplyEffect<EnvironmentEvent, EnvironmentState> whilePresent(
      EnvironmentState.Present present, Environment.Request request) {
    return switch (request) {
      case Environment.OpenShell open ->
          open(present, EnvironmentShells.Wanted.shell(open), open.quotas());
      case Environment.RunOnce run ->
          open(present, EnvironmentShells.Wanted.once(run), run.quotas());
      case Environment.Reset reset ->
          beginEmptying(present, reset, EnvironmentState.Emptying.FOR_RESET);
      case Environment.Delete delete -> onDelete(delete);
      case Environment.CloseShells close -> onCloseShells(present, close);
      case Environment.Archive archive -> onArchive(present, archive);
      case Environment.Request other -> {
        answer(present, other);
        yield Effect().noReply();
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

  private ReplyEffect<EnvironmentEvent, EnvironmentState> open(
      EnvironmentState.Present present, EnvironmentShells.Wanted wanted, Quotas quotas) {
    Optional<Failure> refusal = life.refusesShell(present, quotas);
    if (refusal.isPresent()) {
      return refuse(wanted.request(), refusal.get());
    }
    touch();
    int number = shells.nextNumber(present.lastShell());
    life.opening();
    Workspace place = life.workspace();
    ShellId shell = ShellId.of(id, number);
    Optional<ShellId> spare = shells.spare(id, wanted, present.lastShell());
    later(
        () ->
            switch (Directories.resolve(place.files(), wanted.cwd())) {
              case Result.Refused<String>(var failure) ->
                  new ShellStarted(wanted, wanted.cwd(), Result.refused(failure));
              case Result.Ok<String>(var cwd) ->
                  new ShellStarted(
                      wanted,
                      cwd,
                      work.openShell(present, place, shell, spare, wanted, cwd, quotas));
            },
        Function.identity());
    return Effect().noReply();
  }

  private ReplyEffect<EnvironmentEvent, EnvironmentState> onShellStarted(
      EnvironmentState state, ShellStarted started) {
    // None for a shell that an actor before this one was opening when it failed.
    life.opened();
    return switch (started.process()) {
      case Result.Refused<ShellProcess>(var failure) -> {
        started.wanted().request().refuse(failure);
        yield Effect().none().thenNoReply().thenUnstashAll();
      }
      case Result.Ok<ShellProcess>(var process) -> {
        ShellRecord record = shells.record(process, started.cwd(), now());
        unanswered.hold(started);
        yield store(
                new EnvironmentEvent.ShellOpened(record.identity(), runtime.sandbox().holder(id)))
            .thenRun(
                (EnvironmentState next) -> {
                  unanswered.handled(started);
                  shells.begin(record, life.workspace(), started.wanted());
                  forgetShells(state, next);
                })
            .thenNoReply()
            .thenUnstashAll();
      }
    };
  }

  // --- emptying and removing ---

  private ReplyEffect<EnvironmentEvent, EnvironmentState> beginEmptying(
      EnvironmentState.Present present,
      Environment.EmptyingRequest request,
      EnvironmentState.Emptying why) {
    unanswered.hold(request);
    if (life.isOpening()) {
      return Effect().stash();
    }
    busy = true;
    return store(new EnvironmentEvent.EmptyingBegun(why, now()))
        .thenRun(
            (EnvironmentState next) -> {
              unanswered.handled(request);
              empty(present, Optional.of(request));
            })
        .thenNoReply();
  }

  private void empty(
      EnvironmentState.Present present, Optional<Environment.EmptyingRequest> request) {
    Workspace place = life.workspace();
    context.pipeToSelf(
        shells
            .closeAll(present, place)
            .thenRunAsync(() -> work.empty(place), runtime.shells().blocking()),
        (done, failure) -> new Emptied(request));
  }

  private ReplyEffect<EnvironmentEvent, EnvironmentState> onEmptied(
      EnvironmentState state, Optional<Environment.EmptyingRequest> request) {
    EnvironmentState.Emptying why =
        state instanceof EnvironmentState.Present present
            ? present.emptying()
            : EnvironmentState.Emptying.NONE;
    return switch (why) {
      case NONE -> {
        // An actor before this one had it emptied, and this one again.
        if (state instanceof EnvironmentState.Present present) {
          request.ifPresent(r -> r.replyTo().tell(new Environment.Described(life.view(present))));
        }
        yield Effect().noReply();
      }
      case FOR_ARCHIVE -> onWiped(request);
      case FOR_RESET -> onReset(state, request);
    };
  }

  private ReplyEffect<EnvironmentEvent, EnvironmentState> onCloseShells(
      EnvironmentState.Present present, Environment.CloseShells close) {
    if (life.isOpening()) {
      return Effect().stash();
    }
    context.pipeToSelf(
        shells.closeAll(present, life.workspace()), (done, failure) -> new ShellsClosed(close));
    return Effect().noReply();
  }

  private ReplyEffect<EnvironmentEvent, EnvironmentState> onShellsClosed(
      EnvironmentState state, Environment.CloseShells close) {
    if (state instanceof EnvironmentState.Present present) {
      close.replyTo().tell(new Environment.Described(life.view(present)));
    } else {
      close.refuse(close.notFound(id));
    }
    return Effect().noReply();
  }

  private ReplyEffect<EnvironmentEvent, EnvironmentState> onArchive(
      EnvironmentState.Present present, Environment.Archive archive) {
    if (present.isArchived()) {
      archive.replyTo().tell(new Environment.Described(life.view(present)));
      return Effect().noReply();
    }
    return beginEmptying(present, archive, EnvironmentState.Emptying.FOR_ARCHIVE);
  }

  private ReplyEffect<EnvironmentEvent, EnvironmentState> onReset(
      EnvironmentState state, Optional<Environment.EmptyingRequest> reset) {
    touch();
    life.measured(0L);
    return store(new EnvironmentEvent.Reset(now()))
        .thenRun(
            (EnvironmentState next) -> {
              busy = false;
              shells.forget();
              forgetShells(state, next);
              if (next instanceof EnvironmentState.Present present) {
                tell(present, Account.Change.REVIVED);
                reset.ifPresent(
                    r -> r.replyTo().tell(new Environment.Described(life.view(present))));
              }
            })
        .thenNoReply()
        .thenUnstashAll();
  }

  private ReplyEffect<EnvironmentEvent, EnvironmentState> onDelete(Environment.Delete delete) {
    unanswered.hold(delete);
    if (life.isOpening()) {
      return Effect().stash();
    }
    busy = true;
    return store(new EnvironmentEvent.Deleted(now()))
        .thenRun(
            (EnvironmentState next) -> {
              unanswered.handled(delete);
              if (next instanceof EnvironmentState.Gone gone) {
                remove(gone.uid(), Optional.of(delete));
              }
            })
        .thenNoReply();
  }

  private void remove(int uid, Optional<Environment.Delete> request) {
    context.pipeToSelf(
        shells.killAll().thenRunAsync(() -> work.remove(uid), runtime.shells().blocking()),
        (done, failure) -> new Removed(request));
  }

  private ReplyEffect<EnvironmentEvent, EnvironmentState> onRemoved(
      EnvironmentState state, Optional<Environment.Delete> request) {
    shells.forget();
    if (state instanceof EnvironmentState.Gone gone) {
      forget(gone.account(), request, !feed.isFollowed());
    }
    return Effect().noReply();
  }

  /**
   * First the account, whose quota it holds; then the journal, after which nothing would remember
   * to tell the account.
   *
   * @param rows whether the journal's rows go too, or stay a while for those who read them
   */
  private void forget(AccountId account, Optional<Environment.Delete> request, boolean rows) {
    context.pipeToSelf(
        runtime
            .accounts()
            .changed(account, id, Account.Change.DELETED)
            .thenRunAsync(
                () -> {
                  if (rows) {
                    runtime.rows().forget(id);
                  }
                },
                runtime.shells().blocking()),
        (done, failure) -> new Forgotten(request, rows && failure == null));
  }

  private ReplyEffect<EnvironmentEvent, EnvironmentState> onForgotten(Forgotten forgotten) {
    busy = false;
    forgotten.request().ifPresent(r -> r.replyTo().tell(new Environment.Deleted()));
    if (forgotten.everywhere()) {
      host.tell(new EnvironmentGone(id));
    } else {
      context.scheduleOnce(
          feed.isFollowed() ? EnvironmentFeed.LINGERING : AGAIN,
          context.getSelf(),
          new ForgetAgain());
    }
    return Effect().none().thenNoReply().thenUnstashAll();
  }

  /**
   * The rows of shells that the environment has no longer. What fails goes with the environment.
   */
  private void forgetShells(EnvironmentState before, EnvironmentState after) {
    if (before instanceof EnvironmentState.Present had
        && after instanceof EnvironmentState.Present has) {
      List<ShellId> dropped = new ArrayList<>();
      had.shells().forEach(s -> dropped.add(s.identity().id()));
      has.shells().forEach(s -> dropped.remove(s.identity().id()));
      if (!dropped.isEmpty()) {
        shells.forget(dropped);
        runtime.shells().blocking().execute(() -> work.forgetRows(dropped));
      }
    }
  }

  private void tell(EnvironmentState.Present present, Account.Change change) {
    var _ = runtime.accounts().changed(present.account(), id, change);
  }

  // --- what happens by itself ---

  private ReplyEffect<EnvironmentEvent, EnvironmentState> onInternal(
      EnvironmentState state, Internal message) {
    unanswered.handled(message);
    return switch (message) {
      case Prepared prepared -> onPrepared(state, prepared);
      case PrepareAgain() -> {
        if (state instanceof EnvironmentState.Present present) {
          takeUp(present);
        }
        yield Effect().noReply();
      }
      case ShellStarted started -> onShellStarted(state, started);
      case FromShell(ShellActor.Ended(var shell, var end)) -> {
        if (state instanceof EnvironmentState.Present present
            && present.shell(shell.id()).filter(ShellRecord::isRunning).isPresent()) {
          busy &= !shells.lastAwaitedEnd(shell.id());
          yield store(new EnvironmentEvent.ShellEnded(shell.id(), end))
              .thenRun((EnvironmentState next) -> runtime.processes().recorded(shell.id()))
              .thenNoReply()
              .thenUnstashAll();
        }
        runtime.processes().recorded(shell.id());
        yield Effect().noReply();
      }
      case FromShell(ShellActor.Happened(var shell, var event)) -> {
        touch();
        if (!feed.add(state, event)) {
          askHistory(state, shell);
        }
        yield Effect().noReply();
      }
      case FromShell(ShellActor.Remembered(var shell, var commands)) -> {
        feed.add(state, shell.id(), commands);
        yield Effect().noReply();
      }
      case Collected() -> {
        List<EnvironmentEvent> collected = feed.take(state);
        yield collected.isEmpty() ? Effect().noReply() : store(collected).thenNoReply();
      }
      case EventsWaitOver(var request) -> {
        feed.waitOver(request, lastSequenceNumber(context));
        yield Effect().noReply();
      }
      case Emptied(var request) -> onEmptied(state, request);
      case ShellsClosed(var request) -> onShellsClosed(state, request);
      case Removed(var request) -> onRemoved(state, request);
      case Forgotten forgotten -> onForgotten(forgotten);
      case ForgetAgain() -> {
        if (state instanceof EnvironmentState.Gone gone) {
          forget(gone.account(), Optional.empty(), true);
        }
        yield Effect().noReply();
      }
      case Tick() -> onTick(state);
      case Reap(var idleSince) -> onReap(state, idleSince);
      case DiskMeasured(var bytes) -> {
        life.measured(bytes);
        yield Effect().noReply();
      }
      case Ignored() -> Effect().noReply();
    };
  }

  private ReplyEffect<EnvironmentEvent, EnvironmentState> onTick(EnvironmentState state) {
    if (!busy
        && unprepared.isEmpty()
        && state instanceof EnvironmentState.Present present
        && !present.isArchived()) {
      long idleSince = life.lastActivityAt();
      runtime.processes().dropSpareOlderThan(id, SPARE_WAITS);
      context.pipeToSelf(
          runtime.quotas().apply(present.account()).thenCompose(q -> reap(present, idleSince, q)),
          (idle, failure) -> failure == null ? new Reap(idle) : new Ignored());
      if (life.takeUsedSinceMeasured()) {
        Workspace place = life.workspace();
        later(() -> new DiskMeasured(work.diskBytes(place)), Function.identity());
      }
    }
    return Effect().noReply();
  }

  /** Closes idle shells; since when the environment itself is idle, if it is for its time. */
  private CompletionStage<Optional<Long>> reap(
      EnvironmentState.Present present, long idleSince, Quotas quotas) {
    Workspace place = life.workspace();
    boolean idle =
        present.running().isEmpty()
            && now() - idleSince
                > present.spec().choices().environmentIdleTtlSeconds(quotas) * 1000;
    return shells
        .reapIdle(present, place, quotas)
        .thenCombineAsync(
            blocking(() -> work.pruneLogs(place, quotas.maxCommandLogBytes())),
            (closed, pruned) -> idle ? Optional.of(idleSince) : Optional.empty(),
            runtime.shells().blocking());
  }

  /** It may have come into use while it was looked at. */
  private ReplyEffect<EnvironmentEvent, EnvironmentState> onReap(
      EnvironmentState state, Optional<Long> idleSince) {
    if (idleSince.isPresent()
        && idleSince.get() == life.lastActivityAt()
        && !life.isOpening()
        && !busy
        && unprepared.isEmpty()
        && state instanceof EnvironmentState.Present present
        && !present.isArchived()
        && present.running().isEmpty()) {
      busy = true;
      return store(new EnvironmentEvent.EmptyingBegun(EnvironmentState.Emptying.FOR_ARCHIVE, now()))
          .thenRun((EnvironmentState next) -> empty(present, Optional.empty()))
          .thenNoReply();
    }
    return Effect().noReply();
  }

  private ReplyEffect<EnvironmentEvent, EnvironmentState> onWiped(
      Optional<Environment.EmptyingRequest> request) {
    life.measured(0L);
    return store(new EnvironmentEvent.Archived(now()))
        .thenRun(
            (EnvironmentState next) -> {
              busy = false;
              if (next instanceof EnvironmentState.Present present) {
                tell(present, Account.Change.ARCHIVED);
                request.ifPresentOrElse(
                    r -> r.replyTo().tell(new Environment.Described(life.view(present))),
                    () ->
                        runtime
                            .audit()
                            .note(
                                AuditEvent.of("environment.archive", present.account())
                                    .with("environment_id", id.value())));
              }
            })
        .thenNoReply()
        .thenUnstashAll();
  }

  // --- helpers ---

  /** Stores {@code event}, after what happened in the shells before it. */
  private EffectBuilder<EnvironmentEvent, EnvironmentState> store(EnvironmentEvent event) {
    return store(feed.takeBefore(event));
  }

  private EffectBuilder<EnvironmentEvent, EnvironmentState> store(List<EnvironmentEvent> events) {
    return Effect().persist(events).thenRun(() -> feed.stored(lastSequenceNumber(context)));
  }

  /** Something of a shell was not heard. */
  private void askHistory(EnvironmentState state, ShellIdentity identity) {
    if (state instanceof EnvironmentState.Present present) {
      present
          .shell(identity.id())
          .ifPresent(
              shell ->
                  context.pipeToSelf(
                      shells.history(shell, life.workspace()),
                      (commands, failure) ->
                          failure == null
                              ? new FromShell(new ShellActor.Remembered(identity, commands))
                              : new Ignored()));
    }
  }

  private void touch() {
    life.used(now());
  }

  private ReplyEffect<EnvironmentEvent, EnvironmentState> refuse(
      Environment.Request request, Failure failure) {
    request.refuse(failure);
    return Effect().noReply();
  }

  private <T> CompletionStage<T> blocking(Supplier<T> task) {
    return CompletableFuture.supplyAsync(task, runtime.shells().blocking());
  }

  private <T> void later(Supplier<T> task, Function<T, Internal> message) {
    context.pipeToSelf(
        blocking(task),
        (value, failure) -> {
          if (failure != null) {
            throw new IllegalStateException("work of an environment failed", failure);
          }
          return message.apply(value);
        });
  }

  private static long now() {
    return System.currentTimeMillis();
  }
}
