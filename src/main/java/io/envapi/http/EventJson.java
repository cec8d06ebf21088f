package io.envapi.http;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.envapi.environment.EnvironmentEvent;
import io.envapi.environment.EnvironmentHistory;
import io.envapi.id.CommandId;
import io.envapi.id.EnvironmentId;
import io.envapi.id.ShellId;
import io.envapi.shell.CommandRecord;
import io.envapi.shell.ShellView;

/** How what happened to an environment is written. */
final class EventJson {

  private EventJson() {}

  /** The type, as the stream and its data have it. */
  static String type(EnvironmentEvent event) {
    return switch (event) {
      case EnvironmentEvent.Created _ -> "created";
      case EnvironmentEvent.ShellOpened _ -> "shell_opened";
      case EnvironmentEvent.ShellEnded(_, var end) ->
          end.state() == ShellView.State.CLOSED ? "shell_closed" : "shell_died";
      case EnvironmentEvent.CommandStarted _ -> "command_started";
      case EnvironmentEvent.CommandFinished _ -> "command_finished";
      case EnvironmentEvent.Reconciled _ -> "reconciled";
      case EnvironmentEvent.EmptyingBegun _ -> "emptying";
      case EnvironmentEvent.Reset _ -> "reset";
      case EnvironmentEvent.Archived _ -> "archived";
      case EnvironmentEvent.Deleted _ -> "deleted";
    };
  }

  private static long at(EnvironmentEvent event) {
    return switch (event) {
      case EnvironmentEvent.Created created -> created.at();
      case EnvironmentEvent.ShellOpened(var shell, _) -> shell.createdAt();
      case EnvironmentEvent.ShellEnded(_, var end) -> end.at();
      case EnvironmentEvent.CommandStarted started -> started.at();
      case EnvironmentEvent.CommandFinished finished -> finished.at();
      case EnvironmentEvent.Reconciled reconciled -> reconciled.at();
      case EnvironmentEvent.EmptyingBegun(_, var at) -> at;
      case EnvironmentEvent.Reset(var at) -> at;
      case EnvironmentEvent.Archived(var at) -> at;
      case EnvironmentEvent.Deleted(var at) -> at;
    };
  }

  static ObjectNode event(EnvironmentId environment, EnvironmentHistory.Stored stored) {
    EnvironmentEvent event = stored.event();
    ObjectNode json =
        Json.object()
            .put("seq", stored.number())
            .put("type", type(event))
            .put("at", Json.seconds(at(event)))
            .put("environment_id", environment.value());
    switch (event) {
      case EnvironmentEvent.Created(_, var spec, _, _) -> {
        json.put("name", spec.name()).put("profile", spec.profile()).put("network", spec.network());
        ObjectNode labels = json.putObject("labels");
        spec.labels().forEach(labels::put);
      }
      case EnvironmentEvent.ShellOpened(var shell, _) ->
          json.put("shell_id", shell.id().value())
              .put("pid", shell.process().pid())
              .put("pgid", shell.pgid())
              .put("start_ticks", shell.process().startTicks())
              .put("cwd", shell.cwd())
              .put("pty", shell.pty());
      case EnvironmentEvent.ShellEnded(var shell, var end) ->
          json.put("shell_id", shell.value())
              .put("state", end.state().label())
              .put("dead_reason", end.reason())
              .put("cursor", end.cursor())
              .put("commands_run", end.commandsRun());
      case EnvironmentEvent.CommandStarted started ->
          command(json, started.command())
              .put("command", started.text())
              .put("command_truncated", !started.whole())
              .put("output_start", started.outputStart());
      case EnvironmentEvent.CommandFinished finished -> ended(json, finished);
      case EnvironmentEvent.Reconciled reconciled -> {
        json.set("shells", Json.texts(reconciled.shells().stream().map(ShellId::value).toList()));
        json.put("processes_killed", reconciled.killed());
      }
      case EnvironmentEvent.EmptyingBegun _,
          EnvironmentEvent.Reset _,
          EnvironmentEvent.Archived _,
          EnvironmentEvent.Deleted _ -> {}
    }
    return json;
  }

  /** A deletion of which no more than that is known. */
  static ObjectNode deleted(EnvironmentId environment) {
    return Json.object()
        .putNull("seq")
        .put("type", "deleted")
        .putNull("at")
        .put("environment_id", environment.value());
  }

  private static ObjectNode command(ObjectNode json, CommandId command) {
    return json.put("shell_id", command.shell().value()).put("command_id", command.value());
  }

  private static void ended(ObjectNode json, EnvironmentEvent.CommandFinished finished) {
    CommandRecord.Reason reason = finished.reason();
    command(json, finished.command())
        .put("state", finished.state().label())
        .put("reason", reason.label());
    json.set("exit_code", Json.number(finished.exitCode()));
    json.set("signal", Json.number(finished.signal()));
    json.put("output_end", finished.outputEnd());
  }
}
