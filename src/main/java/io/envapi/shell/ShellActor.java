package io.envapi.shell;

import io.envapi.Supervised;
import io.envapi.Unanswered;
import io.envapi.id.ShellId;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
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
import org.apache.pekko.persistence.typed.javadsl.Recovery;
import org.apache.pekko.persistence.typed.javadsl.ReplyEffect;
import org.apache.pekko.persistence.typed.javadsl.RetentionCriteria;
import org.apache.pekko.persistence.typed.javadsl.SignalHandler;

/**
 * One shell: takes its commands one at a time, knows how each ended, and remembers them.
 *
 * <p>The start of a command is stored before the shell sees it, its end before anybody is told. The
 * process itself belongs to {@link ShellProcesses}; a restarted actor takes it up again, and one
 * that finds no process ends what the journal says is running.
 */
public final class ShellActor
    extends EventSourcedBehaviorWithEnforcedReplies<Shell.Command, ShellEvent, ShellState> {

  /** What the actor tells itself. */
  sealed interface Internal extends Shell.Command
      permits ShellCommands.CommandEnded,
          ShellEnding.ProcessGone,
          CommandWatch.Step,
          ShellWaiting.Step,
          Interruption.Step,
          Done {}

  record Done() implements Internal {}

  /** What a shell tells its environment. */
  public sealed interface Notice {}

  /** The shell is gone for good. */
  public record Ended(ShellIdentity shell, ShellEnd end) implements Notice {}

  /** A command of the shell started or ended. */
  public record Happened(ShellIdentity shell, ShellEvent event) implements Notice {}

  /** What an actor that started knows of the shell's commands, oldest first. */
  public record Remembered(ShellIdentity shell, List<CommandRecord> commands) implements Notice {
    public Remembered {
      commands = List.copyOf(commands);
    }
  }

  /**
   * A shell to be run or remembered.
   *
   * @param end how it ended, when it did
   */
  public record Spec(ShellIdentity identity, Path logs, Optional<ShellEnd> end) {}

  private final Unanswered unanswered;
  private final boolean isNew;
  private final ShellSelf self;
  private final ShellAnswers answers;
  private final ShellWaiting waiting;
  private final CommandWatch watch;
  private final ShellEnding ending;
  private final ShellCommands commands;
  private final Interruption interruption;

  public static Behavior<Shell.Command> create(
      Spec spec, ShellProcesses processes, ShellRuntime runtime, ActorRef<Notice> environment) {
    return create(spec, processes, runtime, environment, false);
  }

  /** A shell that was opened just now: the journal has nothing of it to be read. */
  public static Behavior<Shell.Command> createNew(
      Spec spec, ShellProcesses processes, ShellRuntime runtime, ActorRef<Notice> environment) {
    return create(spec, processes, runtime, environment, true);
  }

  private static Behavior<Shell.Command> create(
      Spec spec,
      ShellProcesses processes,
      ShellRuntime runtime,
      ActorRef<Notice> environment,
      boolean isNew) {
    var firstStart = new AtomicBoolean(isNew);
    return Supervised.restarting(
        unanswered ->
            Behaviors.setup(
                context ->
                    new ShellActor(
                        context,
                        unanswered,
                        spec,
                        processes,
                        runtime,
                        environment,
                        firstStart.getAndSet(false))));
  }

  public static PersistenceId persistenceId(ShellId id) {
    return PersistenceId.of("Shell", id.value());
  }

  private ShellActor(
      ActorContext<Shell.Command> context,
      Unanswered unanswered,
      Spec spec,
      ShellProcesses processes,
      ShellRuntime runtime,
      ActorRef<Notice> environment,
      boolean isNew) {
    super(persistenceId(spec.identity().id()));
    this.unanswered = unanswered;
    this.isNew = isNew;
    ShellIdentity identity = spec.identity();
    var process = processes.find(identity.id());
    var life = new ShellLife(spec.end(), identity.createdAt(), processes.fate(identity.id()));
    this.answers = new ShellAnswers(identity, spec.logs(), process, life, runtime.blocking());
    this.self =
        new ShellSelf(
            spec, context, unanswered, runtime, environment, process, life, answers, Effect());
    this.waiting = new ShellWaiting(self);
    this.watch = new CommandWatch(self);
    this.ending = new ShellEnding(self, watch, waiting);
    this.commands = new ShellCommands(self, watch, waiting, ending);
    this.interruption = new Interruption(self);
  }

  @Override
  public Recovery recovery() {
    return isNew ? Recovery.disabled() : super.recovery();
  }

  @Override
  public ShellState emptyState() {
    return ShellState.EMPTY;
  }

  @Override
  public RetentionCriteria retentionCriteria() {
    return RetentionCriteria.snapshotEvery(200, 1).withDeleteEventsOnSnapshot();
  }

  @Override
  public EventHandler<ShellState, ShellEvent> eventHandler() {
    return ShellState::with;
  }

  @Override
  public SignalHandler<ShellState> signalHandler() {
    return newSignalHandlerBuilder()
        .onSignal(RecoveryCompleted.instance(), this::recovered)
        .onSignal(PreRestart.class, (state, signal) -> waiting.answerAll(state))
        .build();
  }

  @Override
  public CommandHandlerWithReply<Shell.Command, ShellEvent, ShellState> commandHandler() {
    return this::onCommand;
  }

  private void recovered(ShellState state) {
    if (!state.history().isEmpty()) {
      self.environment().tell(new Remembered(self.spec().identity(), state.history()));
    }
    self.process()
        .ifPresentOrElse(shell -> takeUp(state, shell), () -> ending.withoutProcess(state));
  }

  private void takeUp(ShellState state, ShellProcess shell) {
    shell.output().onOutput(waiting::outputArrived);
    self.tellSelf(shell.gone(), status -> new ShellEnding.ProcessGone(Optional.of(status)));
    state.running().ifPresent(command -> commands.takeUp(shell, command));
  }

  private ReplyEffect<ShellEvent, ShellState> onCommand(ShellState state, Shell.Command command) {
    unanswered.handled(command);
    return switch (command) {
      case Shell.Exec exec -> commands.exec(state, exec);
      case Shell.Request request -> {
        onRequest(state, request);
        yield Effect().noReply();
      }
      case Internal internal -> onInternal(state, internal);
    };
  }

  /** Requests that store nothing. */
  private void onRequest(ShellState state, Shell.Request request) {
    switch (request) {
      case Shell.Exec _ -> throw new IllegalStateException("exec stores events");
      case Shell.Describe(var replyTo) -> replyTo.tell(new Shell.Described(answers.view(state)));
      case Shell.ListCommands list -> answers.commands(state, list);
      case Shell.ReadOutput read -> waiting.readOutput(state, read);
      case Shell.Follow follow -> waiting.follow(state, follow);
      case Shell.ReadResult read -> answers.result(state, read);
      case Shell.ReadCommand read -> answers.command(state, read);
      case Shell.Await await -> waiting.await(state, await);
      case Shell.SignalBelow signal -> interruption.signal(state, signal);
      case Shell.WriteStdin write -> interruption.stdin(state, write);
      case Shell.Resize resize -> answers.resize(resize);
      case Shell.ListProcesses list -> answers.processes(list);
      case Shell.Close close -> ending.close(state, close);
    }
  }

  private ReplyEffect<ShellEvent, ShellState> onInternal(ShellState state, Internal message) {
    return switch (message) {
      case ShellCommands.CommandEnded(var id, var how) -> commands.onEnded(state, id, how);
      case ShellEnding.ProcessGone(var status) -> ending.onGone(state, status);
      case CommandWatch.Step step -> {
        watch.on(state, step);
        yield Effect().noReply();
      }
      case ShellWaiting.Step step -> {
        waiting.on(state, step);
        yield Effect().noReply();
      }
      case Interruption.Step step -> {
        interruption.on(state, step);
        yield Effect().noReply();
      }
      case Done() -> Effect().noReply();
    };
  }
}
