package io.envapi.shell;

import io.envapi.failure.Failure;
import io.envapi.id.CommandId;
import io.envapi.linux.ExitStatus;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.persistence.typed.javadsl.ReplyEffect;

/**
 * How a shell runs its commands. The start of one is stored before the shell sees it, its end
 * before anybody is told.
 */
final class ShellCommands {

  record CommandEnded(CommandId id, CommandEnd end) implements ShellActor.Internal {}

  private final ShellSelf self;
  private final ShellLife life;
  private final CommandWatch watch;
  private final ShellWaiting waiting;
  private final ShellEnding ending;

  ShellCommands(ShellSelf self, CommandWatch watch, ShellWaiting waiting, ShellEnding ending) {
    this.self = self;
    this.life = self.life();
    this.watch = watch;
    this.waiting = waiting;
    this.ending = ending;
  }

  ReplyEffect<ShellEvent, ShellState> exec(ShellState state, Shell.Exec exec) {
    if (life.isClosing() || self.process().isEmpty()) {
      return refuse(exec, new Failure.ShellNotRunning());
    }
    if (state.running().isPresent()) {
      return refuse(exec, new Failure.ShellBusy(state.running().get().id().value()));
    }
    ShellProcess shell = self.process().get();
    CommandId id = CommandId.of(self.id(), state.lastNumber() + 1);
    ShellOutput.Prepared prepared = shell.output().prepare(id, exec.logCap());
    var started =
        new ShellEvent.CommandStarted(
            id,
            exec.command(),
            System.currentTimeMillis(),
            prepared.outputStart(),
            exec.timeoutMs(),
            exec.secrets().keySet().stream().sorted().toList(),
            exec.missing());
    self.unanswered().hold(exec);
    return self.effects()
        .persist(started)
        .thenRun(
            (ShellState next) -> {
              self.unanswered().handled(exec);
              begin(next, shell, prepared, started, exec);
            })
        .thenNoReply();
  }

  private ReplyEffect<ShellEvent, ShellState> refuse(Shell.Exec exec, Failure failure) {
    return self.effects().reply(exec.replyTo(), new Shell.Refused(failure));
  }

  private void begin(
      ShellState state,
      ShellProcess shell,
      ShellOutput.Prepared prepared,
      ShellEvent.CommandStarted started,
      Shell.Exec exec) {
    CommandId id = started.id();
    life.used(started.startedAt());
    awaitEnd(prepared.end(), id);
    Interruption.forget(shell);
    shell.execute(
        exec.subshell() ? Script.subshell(exec.command()) : exec.command(),
        variables(shell, exec.secrets()));
    watch.begin(shell, id, started.startedAt(), exec.timeoutMs().map(Duration::ofMillis));
    self.tellHappened(started);
    waiting.commandBegan(state);
    waiting.exec(state, new ShellWaiters.ForExec(exec, id));
  }

  /** The variables of all services; their values are redacted from now on. */
  private static Map<String, String> variables(
      ShellProcess shell, Map<String, Map<String, String>> secrets) {
    Map<String, String> variables = new LinkedHashMap<>();
    secrets.forEach(
        (service, values) -> {
          values.values().forEach(value -> redact(shell, service, value));
          variables.putAll(values);
        });
    return variables;
  }

  private static void redact(ShellProcess shell, String service, String value) {
    byte[] secret = value.getBytes(StandardCharsets.UTF_8);
    shell.output().redact(service, secret);
    Arrays.fill(secret, (byte) 0);
  }

  /** An actor before this one began {@code command}. */
  void takeUp(ShellProcess shell, CommandRecord command) {
    CommandId id = command.id();
    shell.output().end(id).ifPresent(end -> awaitEnd(end, id));
    long now = System.currentTimeMillis();
    watch.begin(
        shell,
        id,
        command.startedAt(),
        command
            .timeoutMs()
            .map(ms -> Duration.ofMillis(Math.max(0, command.startedAt() + ms - now))));
  }

  private void awaitEnd(CompletionStage<CommandEnd> end, CommandId id) {
    self.tellSelf(end, how -> new CommandEnded(id, how));
  }

  ReplyEffect<ShellEvent, ShellState> onEnded(ShellState state, CommandId id, CommandEnd how) {
    if (state.running(id).isEmpty()) {
      return self.effects().noReply();
    }
    self.noteFate();
    CommandEnds.Cause cause = life.cause(id, self.outOfMemory(how));
    return finish(CommandEnds.event(id, how, cause, System.currentTimeMillis()), how.shellStatus());
  }

  /**
   * {@code shell} is how the shell itself ended, if it did: nobody hears of one before the other.
   */
  private ReplyEffect<ShellEvent, ShellState> finish(
      ShellEvent.CommandFinished finished, Optional<ExitStatus> shell) {
    return self.effects()
        .persist(finished)
        .thenRun(
            (ShellState next) -> {
              watch.end();
              life.finished(finished.id(), finished.finishedAt());
              self.runtime().meter().ended(finished.reason());
              self.tellHappened(finished);
              shell.ifPresent(status -> ending.ended(next, Optional.of(status)));
              waiting.commandEnded(next);
            })
        .thenNoReply();
  }
}
