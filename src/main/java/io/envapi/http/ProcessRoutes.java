package io.envapi.http;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.envapi.environment.Environment;
import io.envapi.failure.Failure;
import io.envapi.host.Environments;
import io.envapi.id.EnvironmentId;
import io.envapi.id.ShellId;
import io.envapi.keyring.Caller;
import io.envapi.shell.Shell;
import java.time.Duration;
import java.util.OptionalInt;
import java.util.concurrent.CompletionStage;

/** The processes of an environment or of one of its shells. */
final class ProcessRoutes {

  private final Environments environments;
  private final Audited audited;

  ProcessRoutes(Environments environments, Audited audited) {
    this.environments = environments;
    this.audited = audited;
  }

  void addTo(RouteTable routes) {
    routes.on("/v1/environments/{environment}/processes").get(this::ofEnvironment);
    routes.on("/v1/shells/{shell}/processes").get(this::ofShell);
    routes
        .on("/v1/environments/{environment}/processes/{pid}/signal")
        .post(audited.of("process.signal", this::signal));
  }

  private CompletionStage<Answer> ofEnvironment(Exchange exchange, Caller caller) {
    return exchange.environment(
        id ->
            environments
                .<Environment.ProcessesReply>environment(
                    caller.account(),
                    id,
                    Duration.ZERO,
                    (_, replyTo) -> new Environment.ListProcesses(replyTo))
                .thenApply(
                    reply ->
                        switch (reply) {
                          case Environment.Processes processes ->
                              Answer.ok(processes(id, processes));
                          case Environment.Refused(var failure) -> Problems.of(failure);
                        }));
  }

  private CompletionStage<Answer> ofShell(Exchange exchange, Caller caller) {
    return exchange.shell(
        id ->
            environments
                .<Shell.ProcessesReply>shell(
                    caller.account(),
                    id,
                    Duration.ZERO,
                    (_, replyTo) -> new Shell.ListProcesses(replyTo))
                .thenApply(
                    reply ->
                        switch (reply) {
                          case Shell.Processes processes -> Answer.ok(processes(id, processes));
                          case Shell.Refused(var failure) -> Problems.of(failure);
                        }));
  }

  private CompletionStage<Answer> signal(Exchange exchange, Deed deed) {
    String sent = exchange.parameter("pid");
    OptionalInt pid = pid(sent);
    if (pid.isEmpty()) {
      return Problems.of(new Failure.NotFound(Failure.Kind.PROCESS, sent)).now();
    }
    return exchange.environment(
        id ->
            exchange.body(ShellBodies::signal, signal -> signal(deed, id, pid.getAsInt(), signal)));
  }

  private CompletionStage<Answer> signal(Deed deed, EnvironmentId id, int pid, String signal) {
    return environments
        .<Environment.SignalReply>environment(
            deed.account(),
            id,
            Duration.ZERO,
            (_, replyTo) -> new Environment.SignalProcess(pid, signal, replyTo))
        .thenApply(
            reply ->
                switch (reply) {
                  case Environment.Signalled signalled -> {
                    deed.done(
                        deed.event(id)
                            .with("pid", pid)
                            .with("signal", signalled.signal())
                            .with("shell_id", signalled.shell().value()));
                    yield Answer.ok(
                        Json.object()
                            .put("environment_id", id.value())
                            .put("pid", pid)
                            .put("signal", signalled.signal())
                            .put("shell_id", signalled.shell().value()));
                  }
                  case Environment.Refused(var failure) -> Problems.of(failure);
                });
  }

  private static ObjectNode processes(EnvironmentId id, Environment.Processes processes) {
    ObjectNode json = Json.object().put("environment_id", id.value());
    json.set("processes", Json.array(processes.processes(), ShellJson::process));
    return json;
  }

  private static ObjectNode processes(ShellId id, Shell.Processes processes) {
    ObjectNode json = Json.object().put("shell_id", id.value());
    json.set(
        "processes", Json.array(processes.processes(), process -> ShellJson.process(id, process)));
    return json;
  }

  /** A positive number; no sign, no digits of other scripts, and none that no process can have. */
  private static OptionalInt pid(String sent) {
    return sent.matches("[1-9][0-9]{0,8}")
        ? OptionalInt.of(Integer.parseInt(sent))
        : OptionalInt.empty();
  }
}
