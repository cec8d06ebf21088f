package io.envapi.http;

import io.envapi.audit.AuditEvent;
import io.envapi.audit.AuditLog;
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
  private final AuditLog audit;
  private final ShellSettings settings;

  ExecRoutes(
      Environments environments,
      CallerCredentials credentials,
      LiveCommands live,
      AuditLog audit,
      ShellSettings settings) {
    this.environments = environments;
    this.credentials = credentials;
    this.live = live;
    this.audit = audit;
    this.settings = settings;
  }

  void addTo(RouteTable routes) {
    routes.on("/v1/shells/{shell}/exec").post(this::exec);
    routes.on("/v1/exec").post(this::once);
  }

  private CompletionStage<Answer> exec(Exchange exchange, Caller caller) {
    return exchange.shell(
        id ->
            exchange.body(
                ShellBodies.Exec::read,
                exec ->
                    given(
                        caller,
                        id.environment(),
                        failure -> named(failure, id),
                        given -> exec(exchange, caller, id, exec, given))));
  }

  private CompletionStage<Answer> exec(
      Exchange exchange,
      Caller caller,
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
          exchange, caller, id, request, command -> record(caller, command, exec.command()));
    }
    return environments
        .<Shell.ExecReply>shell(
            caller.account(),
            id,
            Duration.ofMillis(exec.waitMs()),
            (place, replyTo) -> request.message(place.quotas(), replyTo))
        .thenApply(
            reply ->
                switch (reply) {
                  case Shell.Executed(var result) -> ran(caller, result, exec.command());
                  case Shell.Refused(var failure) -> Problems.of(failure);
                });
  }

  private CompletionStage<Answer> once(Exchange exchange, Caller caller) {
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
              caller,
              id.get(),
              failure -> failure,
              given -> once(exchange, caller, id.get(), once, given));
        });
  }

  private CompletionStage<Answer> once(
      Exchange exchange,
      Caller caller,
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
          exchange, caller, id, once, request, command -> record(caller, command, shown));
    }
    Duration wait =
        Duration.ofMillis(once.timeoutMs()).plus(settings.closeGrace()).plus(SHELL_WORK);
    return environments
        .<Environment.OnceReply>environment(
            caller.account(),
            id,
            wait,
            (place, replyTo) ->
                new Environment.RunOnce(request(once, given), place.quotas(), replyTo))
        .thenApply(
            reply ->
                switch (reply) {
                  case Environment.RanOnce(var result) -> ran(caller, result, shown);
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

  private Answer ran(Caller caller, CommandResult result, String text) {
    record(caller, result.command(), text);
    return Answer.ok(ShellJson.result(result));
  }

  private void record(Caller caller, CommandRecord command, String text) {
    ShellId shell = command.id().shell();
    audit.record(
        AuditEvent.of("shell.exec", caller.account())
            .with("environment_id", shell.environment().value())
            .with("shell_id", shell.value())
            .with("command_id", command.id().value())
            .withCommand(text)
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
