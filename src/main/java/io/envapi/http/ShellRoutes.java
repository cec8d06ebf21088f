package io.envapi.http;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.envapi.environment.Environment;
import io.envapi.host.Environments;
import io.envapi.id.EnvironmentId;
import io.envapi.id.ShellId;
import io.envapi.keyring.Caller;
import io.envapi.shell.Shell;
import io.envapi.shell.ShellSettings;
import io.envapi.shell.ShellView;
import io.envapi.shell.TerminalSize;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.apache.pekko.actor.typed.ActorRef;

/** {@code /v1/shells} and the shells of an environment: all but running commands in them. */
final class ShellRoutes {

  private static final int DEFAULT_OUTPUT_BYTES = 65_536;
  private static final int MAX_POLL_MS = 60_000;

  /** A consumer that does not read is waited for this long, and a little more. */
  private static final Duration STDIN_WAIT = Duration.ofSeconds(8);

  private record OutputQuery(long cursor, int maxBytes, long waitMs) {}

  private final Environments environments;
  private final Audited audited;
  private final ShellSettings settings;

  ShellRoutes(Environments environments, Audited audited, ShellSettings settings) {
    this.environments = environments;
    this.audited = audited;
    this.settings = settings;
  }

  void addTo(RouteTable routes) {
    routes
        .on("/v1/environments/{environment}/shells")
        .post(audited.of("shell.open", this::open))
        .get(this::list);
    routes
        .on("/v1/shells/{shell}")
        .get(this::describe)
        .delete(audited.of("shell.close", this::close));
    routes.on("/v1/shells/{shell}/output").get(this::output);
    routes.on("/v1/shells/{shell}/commands").get(this::commands);
    routes.on("/v1/shells/{shell}/wait").post(this::await);
    routes.on("/v1/shells/{shell}/signal").post(audited.of("shell.signal", this::signal));
    routes.on("/v1/shells/{shell}/stdin").post(audited.of("shell.stdin", this::stdin));
    routes.on("/v1/shells/{shell}/resize").post(this::resize);
  }

  private CompletionStage<Answer> open(Exchange exchange, Deed deed) {
    return exchange.environment(
        id -> exchange.body(ShellBodies.Open::read, open -> open(deed, id, open)));
  }

  private CompletionStage<Answer> open(Deed deed, EnvironmentId id, ShellBodies.Open open) {
    return environments
        .<Environment.OpenReply>environment(
            deed.account(),
            id,
            Duration.ZERO,
            (place, replyTo) ->
                new Environment.OpenShell(
                    open.cwd(), open.environment(), open.terminal(), place.quotas(), replyTo))
        .thenApply(
            reply ->
                switch (reply) {
                  case Environment.Opened(var shell) -> {
                    deed.done(deed.event(shell.id()).with("pid", shell.identity().process().pid()));
                    yield Answer.created(ShellJson.shell(shell));
                  }
                  case Environment.Refused(var failure) -> Problems.of(failure);
                });
  }

  private CompletionStage<Answer> list(Exchange exchange, Caller caller) {
    return exchange.environment(
        id ->
            environments
                .<Environment.ShellsReply>environment(
                    caller.account(),
                    id,
                    Duration.ZERO,
                    (_, replyTo) -> new Environment.ListShells(replyTo))
                .thenApply(
                    reply ->
                        switch (reply) {
                          case Environment.Shells(var shells) -> Answer.ok(shells(shells));
                          case Environment.Refused(var failure) -> Problems.of(failure);
                        }));
  }

  private CompletionStage<Answer> describe(Exchange exchange, Caller caller) {
    return exchange.shell(
        id ->
            this.<Shell.DescribeReply>ask(caller, id, Duration.ZERO, Shell.Describe::new)
                .thenApply(
                    reply ->
                        switch (reply) {
                          case Shell.Described(var shell) -> Answer.ok(ShellJson.shell(shell));
                          case Shell.Refused(var failure) -> Problems.of(failure);
                        }));
  }

  private CompletionStage<Answer> close(Exchange exchange, Deed deed) {
    return exchange.shell(
        id ->
            this.<Shell.CloseReply>ask(
                    deed.caller(),
                    id,
                    settings.closeGrace(),
                    replyTo -> new Shell.Close(false, replyTo))
                .thenApply(
                    reply ->
                        switch (reply) {
                          case Shell.Closed(var shell) -> {
                            deed.done(deed.event(id));
                            yield Answer.ok(ShellJson.shell(shell));
                          }
                          case Shell.Refused(var failure) -> Problems.of(failure);
                        }));
  }

  private CompletionStage<Answer> output(Exchange exchange, Caller caller) {
    return exchange.shell(
        id -> exchange.query(this::outputQuery, query -> output(caller, id, query)));
  }

  private OutputQuery outputQuery(Query query) {
    long wanted = query.integer("max_bytes", DEFAULT_OUTPUT_BYTES, 1, Long.MAX_VALUE);
    return new OutputQuery(
        query.integer("cursor", 0, 0, Long.MAX_VALUE),
        (int) Math.min(wanted, settings.maxReadBytes()),
        query.integer("wait_ms", 0, 0, MAX_POLL_MS));
  }

  private CompletionStage<Answer> output(Caller caller, ShellId id, OutputQuery query) {
    return this.<Shell.OutputReply>ask(
            caller,
            id,
            Duration.ofMillis(query.waitMs()),
            replyTo ->
                new Shell.ReadOutput(query.cursor(), query.maxBytes(), query.waitMs(), replyTo))
        .thenApply(
            reply ->
                switch (reply) {
                  case Shell.Output(var shell, var slice) ->
                      Answer.ok(ShellJson.output(shell, slice));
                  case Shell.Refused(var failure) -> Problems.of(failure);
                });
  }

  private CompletionStage<Answer> commands(Exchange exchange, Caller caller) {
    return exchange.shell(
        id ->
            this.<Shell.CommandsReply>ask(caller, id, Duration.ZERO, Shell.ListCommands::new)
                .thenApply(
                    reply ->
                        switch (reply) {
                          case Shell.Commands(var commands) ->
                              Answer.ok(ShellJson.commands(id, commands));
                          case Shell.Refused(var failure) -> Problems.of(failure);
                        }));
  }

  private CompletionStage<Answer> await(Exchange exchange, Caller caller) {
    return exchange.shell(
        id -> exchange.body(ShellBodies::waitMs, waitMs -> await(caller, id, waitMs)));
  }

  private CompletionStage<Answer> await(Caller caller, ShellId id, long waitMs) {
    return this.<Shell.AwaitReply>ask(
            caller, id, Duration.ofMillis(waitMs), replyTo -> new Shell.Await(waitMs, replyTo))
        .thenApply(
            reply ->
                switch (reply) {
                  case Shell.Awaited awaited -> Answer.ok(ShellJson.awaited(awaited));
                  case Shell.Refused(var failure) -> Problems.of(failure);
                });
  }

  private CompletionStage<Answer> signal(Exchange exchange, Deed deed) {
    return exchange.shell(
        id -> exchange.body(ShellBodies::signal, signal -> signal(deed, id, signal)));
  }

  private CompletionStage<Answer> signal(Deed deed, ShellId id, String signal) {
    return this.<Shell.SignalReply>ask(
            deed.caller(), id, Duration.ZERO, replyTo -> new Shell.SignalBelow(signal, replyTo))
        .thenApply(
            reply ->
                switch (reply) {
                  case Shell.Signalled(var number, var processes) -> {
                    deed.done(deed.event(id).with("signal", number).with("processes", processes));
                    yield Answer.ok(
                        Json.object()
                            .put("shell_id", id.value())
                            .put("signal", number)
                            .put("processes_signalled", processes));
                  }
                  case Shell.Refused(var failure) -> Problems.of(failure);
                });
  }

  private CompletionStage<Answer> stdin(Exchange exchange, Deed deed) {
    return exchange.shell(
        id -> exchange.body(ShellBodies.Stdin::read, stdin -> stdin(deed, id, stdin)));
  }

  private CompletionStage<Answer> stdin(Deed deed, ShellId id, ShellBodies.Stdin stdin) {
    return this.<Shell.StdinReply>ask(
            deed.caller(),
            id,
            STDIN_WAIT,
            replyTo ->
                new Shell.WriteStdin(
                    stdin.data(), stdin.tty(), stdin.offset(), stdin.eof(), false, replyTo))
        .thenApply(
            reply ->
                switch (reply) {
                  case Shell.StdinWritten(var bytes, var accepted) -> {
                    deed.done(deed.event(id).with("bytes", bytes));
                    yield Answer.ok(
                        Json.object()
                            .put("shell_id", id.value())
                            .put("bytes_written", bytes)
                            .put("offset", accepted));
                  }
                  case Shell.Refused(var failure) -> Problems.of(failure);
                });
  }

  private CompletionStage<Answer> resize(Exchange exchange, Caller caller) {
    return exchange.shell(id -> exchange.body(ShellBodies::size, size -> resize(caller, id, size)));
  }

  private CompletionStage<Answer> resize(Caller caller, ShellId id, TerminalSize wanted) {
    return this.<Shell.ResizeReply>ask(
            caller, id, Duration.ZERO, replyTo -> new Shell.Resize(wanted, replyTo))
        .thenApply(
            reply ->
                switch (reply) {
                  case Shell.Resized(var size) ->
                      Answer.ok(
                          Json.object()
                              .put("shell_id", id.value())
                              .put("rows", size.rows())
                              .put("cols", size.columns()));
                  case Shell.Refused(var failure) -> Problems.of(failure);
                });
  }

  private static ObjectNode shells(List<ShellView> shells) {
    ObjectNode json = Json.object();
    json.set("shells", Json.array(shells, ShellJson::shell));
    return json;
  }

  private <R> CompletionStage<R> ask(
      Caller caller, ShellId id, Duration wait, Function<ActorRef<R>, Shell.Request> request) {
    return environments.shell(caller.account(), id, wait, (_, replyTo) -> request.apply(replyTo));
  }
}
