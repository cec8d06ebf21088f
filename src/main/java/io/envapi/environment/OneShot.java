package io.envapi.environment;

import io.envapi.failure.Failure;
import io.envapi.shell.Shell;
import io.envapi.shell.ShellView;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.javadsl.AskPattern;
import org.apache.pekko.pattern.Patterns;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs one command in a shell of its own, and closes the shell whatever happened. */
record OneShot(ActorSystem<?> system, ActorRef<Shell.Command> shell) {

  private static final Logger LOG = LoggerFactory.getLogger(OneShot.class);

  /** Beyond the command's time-out: to kill it, and to tell. */
  private static final Duration MARGIN = Duration.ofSeconds(15);

  /** The journal may be away, and a shell that is left counts as long as it may be idle. */
  private static final Duration CLOSE_AGAIN = Duration.ofSeconds(5);

  private static final int CLOSE_TRIES = 12;

  void run(Environment.RunOnce request) {
    Environment.Once once = request.once();
    Duration wait = Duration.ofMillis(once.timeoutMs()).plus(MARGIN);
    this.<Shell.StdinReply>ask(MARGIN, replyTo -> Shell.WriteStdin.whole(once.stdin(), replyTo))
        .exceptionally(late -> new Shell.StdinWritten(0, 0));
    CompletionStage<Shell.ExecReply> ran =
        ask(
            wait.plus(MARGIN),
            replyTo ->
                new Shell.Exec(
                    once.command(),
                    wait.toMillis(),
                    Optional.of(once.timeoutMs()),
                    once.secrets(),
                    once.missing(),
                    once.window(),
                    true,
                    request.quotas().maxCommandLogBytes(),
                    replyTo));
    ran.handle((reply, failure) -> CLOSE_TRIES)
        .thenCompose(this::close)
        .thenCompose(_ -> ran)
        .whenComplete(
            (reply, failure) -> {
              if (failure != null) {
                LOG.error("a one-shot command broke", failure);
                request.refuse(new Failure.Internal());
              } else {
                answer(request, reply);
              }
            });
  }

  /** Completes after the first try; the others, where it was refused, go on. */
  private CompletionStage<Boolean> close(int tries) {
    return this.<Shell.CloseReply>ask(MARGIN, replyTo -> new Shell.Close(true, replyTo))
        .handle((reply, failure) -> reply instanceof Shell.Closed)
        .whenComplete(
            (closed, _) -> {
              if (!closed && tries > 1) {
                Patterns.after(CLOSE_AGAIN, system.classicSystem(), () -> close(tries - 1));
              }
            });
  }

  private static void answer(Environment.RunOnce request, Shell.ExecReply ran) {
    switch (ran) {
      case Shell.Refused(var failure) -> request.refuse(failure);
      case Shell.Executed(var result) ->
          request.replyTo().tell(new Environment.RanOnce(result.inShell(ShellView.State.CLOSED)));
    }
  }

  private <R> CompletionStage<R> ask(
      Duration within, Function<ActorRef<R>, Shell.Command> request) {
    return AskPattern.ask(shell, request::apply, within, system.scheduler());
  }
}
