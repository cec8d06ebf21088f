package io.envapi.http;

import io.envapi.environment.Environment;
import io.envapi.failure.Failure;
import io.envapi.failure.Result;
import io.envapi.host.Environments;
import io.envapi.id.EnvironmentId;
import io.envapi.id.ShellId;
import io.envapi.keyring.Caller;
import io.envapi.shell.CommandRecord;
import io.envapi.shell.CommandResult;
import io.envapi.shell.Shell;
import io.envapi.shell.ShellSettings;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/** Running commands: in a shell, or each in one of its own. */
final class ExecRoutes {

  /** For opening and closing a shell around a command. */
  private static final Duration SHELL_WORK = Duration.ofSeconds(30);

  private final Environments environments;
  private final CallerCredentials credentials;
  private final LiveCommands live;
  private final Audited audited;
  private final ShellSettings settings;

  ExecRoutes(
      Environments environments,
      CallerCredentials credentials,
      LiveCommands live,
      Audited audited,
      ShellSettings settings) {
    this.environments = environments;
    this.credentials = credentials;
    this.live = live;
    this.audited = audited;
    this.settings = settings;
  }

  void addTo(RouteTable routes) {
    routes.on("/v1/shells/{shell}/exec").post(audited.of("shell.exec", this::exec));
    routes.on("/v1/exec").post(audited.of("shell.exec", this::once));
  }

  private CompletionStage<Answer> exec(Exchange exchange, Deed deed) {
    return exchange.shell(
        id ->
            exchange.body(
                ShellBodies.Exec::read,
                exec ->
                    given(
                        deed.caller(),
                        id.environment(),
                        failure -> named(failure, id),
                        given -> exec(exchange, deed, id, exec, given))));
  }

  private CompletionStage<Answer> exec(
      Exchange exchange,
      Deed deed,
      ShellId id,
      ShellBodies.Exec exec,
      CallerCredentials.Given given) {
    boolean streamed = exchange.wantsEvents();
    var request =
        new ExecRequest(
            exec.command(),
            streamed ? 0 : exec.waitMs(),
            exec.timeoutMs(),
            given,
            new Shell.Window(settings.maxReadBytes(), false),
            false);
    if (streamed) {
      return live.exec(
          exchange, deed.caller(), id, request, command -> done(deed, command, exec.command()));
    }
    return environments
        .<Shell.ExecReply>shell(
            deed.account(),
            id,
            Duration.ofMillis(exec.waitMs()),
            (place, replyTo) -> request.message(place.quotas(), replyTo))
        .thenApply(
            reply ->
                switch (reply) {
                  case Shell.Executed(var result) -> ran(deed, result, exec.command());
                  case Shell.Refused(var failure) -> Problems.of(failure);
                });
  }

  private CompletionStage<Answer> once(Exchange exchange, Deed deed) {
    return exchange.body(
        ShellBodies.Once::read,
        once -> {
          Optional<EnvironmentId> id = EnvironmentId.parse(once.environment());
          if (id.isEmpty()) {
            return Problems.of(new Failure.NotFound(Failure.Kind.ENVIRONMENT, once.environment()))
                .now();
          }
          exchange.visit().about(id.get());
          return given(
              deed.caller(),
              id.get(),
              failure -> failure,
              given -> once(exchange, deed, id.get(), once, given));
        });
  }

  private CompletionStage<Answer> once(
      Exchange exchange,
      Deed deed,
      EnvironmentId id,
      ShellBodies.Once once,
      CallerCredentials.Given given) {
    String shown = "( " + once.command() + " )";
    if (exchange.wantsEvents()) {
      var request =
          new ExecRequest(
              once.command(),
              0,
              Optional.of(once.timeoutMs()),
              given,
              new Shell.Window(once.maxOutputBytes(), once.tail()),
              true);
      return live.once(
          exchange, deed.caller(), id, once, request, command -> done(deed, command, shown));
    }
    Duration wait =
        Duration.ofMillis(once.timeoutMs()).plus(settings.closeGrace()).plus(SHELL_WORK);
    return environments
        .<Environment.OnceReply>environment(
            deed.account(),
            id,
            wait,
            (place, replyTo) ->
                new Environment.RunOnce(request(once, given), place.quotas(), replyTo))
        .thenApply(
            reply ->
                switch (reply) {
                  case Environment.RanOnce(var result) -> ran(deed, result, shown);
                  case Environment.Refused(var failure) -> Problems.of(failure);
                });
  }

  private static Environment.Once request(ShellBodies.Once once, CallerCredentials.Given given) {
    return new Environment.Once(
        once.command(),
        once.timeoutMs(),
        once.shell().cwd(),
        once.shell().environment(),
        once.shell().terminal(),
        once.stdin(),
        given.variables(),
        given.missing(),
        new Shell.Window(once.maxOutputBytes(), once.tail()));
  }

  private static Answer ran(Deed deed, CommandResult result, String text) {
    done(deed, result.command(), text);
    return Answer.ok(ShellJson.result(result));
  }

  private static void done(Deed deed, CommandRecord command, String text) {
    deed.done(
        deed.event(command.id().shell())
            .with("command_id", command.id().value())
            .with("command", text)
            .with("credentials", Json.texts(command.credentialsInjected())));
  }

  private CompletionStage<Answer> given(
      Caller caller,
      EnvironmentId environment,
      Function<Failure, Failure> name,
      Function<CallerCredentials.Given, CompletionStage<Answer>> then) {
    return credentials
        .credentialsFor(caller, environment)
        .thenCompose(
            result ->
                switch (result) {
                  case Result.Ok<CallerCredentials.Given>(var given) -> then.apply(given);
                  case Result.Refused<CallerCredentials.Given>(var failure) ->
                      Problems.of(name.apply(failure)).now();
                });
  }

  /** A shell whose environment is not there is itself not there. */
  private static Failure named(Failure failure, ShellId id) {
    return failure instanceof Failure.NotFound
        ? new Failure.NotFound(Failure.Kind.SHELL, id.value())
        : failure;
  }
}
