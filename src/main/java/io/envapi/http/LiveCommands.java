package io.envapi.http;

import io.envapi.environment.Environment;
import io.envapi.failure.Failure;
import io.envapi.host.Environments;
import io.envapi.id.EnvironmentId;
import io.envapi.id.ShellId;
import io.envapi.keyring.Caller;
import io.envapi.shell.CommandRecord;
import io.envapi.shell.CommandResult;
import io.envapi.shell.Shell;
import io.envapi.shell.ShellView;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.pattern.Patterns;
import org.apache.pekko.util.ByteString;

/** Commands whose output is followed from their start, in the answer to the request itself. */
final class LiveCommands {

  /** For closing a shell at once, and for input that nobody reads. */
  private static final Duration SHELL_WORK = Duration.ofSeconds(15);

  /** The journal may be away, and a shell that is left counts as long as it may be idle. */
  private static final Duration CLOSE_AGAIN = Duration.ofSeconds(5);

  private static final int CLOSE_TRIES = 12;

  private final ActorSystem<?> system;
  private final Environments environments;

  LiveCommands(ActorSystem<?> system, Environments environments) {
    this.system = system;
    this.environments = environments;
  }

  /**
   * Runs a command in a shell that stays.
   *
   * @param request without a time to wait
   * @param started told of the command before anything is answered
   */
  CompletionStage<Answer> exec(
      Exchange exchange,
      Caller caller,
      ShellId shell,
      ExecRequest request,
      Consumer<CommandRecord> started) {
    return exec(
        exchange, caller, shell, request, started, result -> completed(result.shellState()));
  }

  /**
   * Runs a command in a shell of its own, which is closed when the stream ends or its reader goes.
   */
  CompletionStage<Answer> once(
      Exchange exchange,
      Caller caller,
      EnvironmentId environment,
      ShellBodies.Once once,
      ExecRequest request,
      Consumer<CommandRecord> started) {
    return environments
        .<Environment.OpenReply>environment(
            caller.account(),
            environment,
            Duration.ZERO,
            (place, replyTo) ->
                new Environment.OpenShell(
                    once.shell().cwd(),
                    once.shell().environment(),
                    once.shell().terminal(),
                    place.quotas(),
                    replyTo))
        .thenCompose(
            reply ->
                switch (reply) {
                  case Environment.Refused(var failure) -> Problems.of(failure).now();
                  case Environment.Opened(var shell) ->
                      inOwnShell(exchange, caller, shell.id(), once, request, started);
                });
  }

  private CompletionStage<Answer> inOwnShell(
      Exchange exchange,
      Caller caller,
      ShellId shell,
      ShellBodies.Once once,
      ExecRequest request,
      Consumer<CommandRecord> started) {
    // Not waited for: a large input is taken as the command reads it.
    this.<Shell.StdinReply>ask(
        caller, shell, SHELL_WORK, replyTo -> Shell.WriteStdin.whole(once.stdin(), replyTo));
    return exec(exchange, caller, shell, request, started, _ -> close(caller, shell))
        .whenComplete(
            (answer, failure) -> {
              if (!(answer instanceof Answer.Events)) {
                close(caller, shell);
              }
            })
        .thenApply(
            answer ->
                answer instanceof Answer.Events(var events)
                    ? new Answer.Events(
                        events.watchTermination(
                            (mat, done) -> {
                              done.whenComplete((_, _) -> close(caller, shell));
                              return mat;
                            }))
                    : answer);
  }

  private CompletionStage<Answer> exec(
      Exchange exchange,
      Caller caller,
      ShellId shell,
      ExecRequest request,
      Consumer<CommandRecord> started,
      Function<CommandResult, CompletionStage<ShellView.State>> finish) {
    return environments
        .<Shell.ExecReply>shell(
            caller.account(),
            shell,
            Duration.ZERO,
            (place, replyTo) -> request.message(place.quotas(), replyTo))
        .thenApply(
            reply ->
                switch (reply) {
                  case Shell.Refused(var failure) -> Problems.of(failure);
                  case Shell.Executed(var result) -> {
                    started.accept(result.command());
                    yield events(
                        exchange,
                        caller,
                        result.command(),
                        () -> last(caller, result.command(), request.window(), finish));
                  }
                });
  }

  private Answer events(
      Exchange exchange,
      Caller caller,
      CommandRecord command,
      Supplier<CompletionStage<ByteString>> last) {
    var subject = new Telling.Subject(Optional.of(command.id()), command.outputStart(), false);
    var following =
        new Follower.Following(
            caller.account(), command.id().shell(), subject, exchange.path(), (_, _) -> last.get());
    return new Answer.Events(
        Follower.events(system, environments, following, StreamPosition.START));
  }

  /**
   * What the answer would be without a stream, as the last event.
   *
   * @param finish what is done before it is told: the state the shell then has
   */
  private CompletionStage<ByteString> last(
      Caller caller,
      CommandRecord command,
      Shell.Window window,
      Function<CommandResult, CompletionStage<ShellView.State>> finish) {
    return this.<Shell.ExecReply>ask(
            caller,
            command.id().shell(),
            Duration.ZERO,
            replyTo -> new Shell.ReadResult(command.id(), window, replyTo))
        .thenCompose(
            reply ->
                switch (reply) {
                  case Shell.Executed(var result) ->
                      finish
                          .apply(result)
                          .thenApply(
                              state ->
                                  Sse.event("result", ShellJson.result(result.inShell(state))));
                  case Shell.Refused(var failure) ->
                      throw new IllegalStateException(
                          "a command that ended is not known: " + failure);
                });
  }

  private static <T> CompletionStage<T> completed(T value) {
    return CompletableFuture.completedStage(value);
  }

  private CompletionStage<ShellView.State> close(Caller caller, ShellId shell) {
    return close(caller, shell, CLOSE_TRIES);
  }

  private CompletionStage<ShellView.State> close(Caller caller, ShellId shell, int tries) {
    return this.<Shell.CloseReply>ask(
            caller, shell, SHELL_WORK, replyTo -> new Shell.Close(true, replyTo))
        .thenApply(
            reply ->
                switch (reply) {
                  case Shell.Closed(var closed) -> closed.state();
                  case Shell.Refused(var failure) -> {
                    if (!(failure instanceof Failure.NotFound) && tries > 1) {
                      Patterns.after(
                          CLOSE_AGAIN,
                          system.classicSystem(),
                          () -> close(caller, shell, tries - 1));
                    }
                    yield ShellView.State.CLOSED;
                  }
                });
  }

  private <R> CompletionStage<R> ask(
      Caller caller, ShellId shell, Duration wait, Function<ActorRef<R>, Shell.Request> request) {
    return environments.shell(
        caller.account(), shell, wait, (_, replyTo) -> request.apply(replyTo));
  }
}
