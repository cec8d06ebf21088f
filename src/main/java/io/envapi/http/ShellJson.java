package io.envapi.http;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.envapi.environment.Environment;
import io.envapi.id.CommandId;
import io.envapi.id.ShellId;
import io.envapi.process.ProcessInfo;
import io.envapi.shell.CommandRecord;
import io.envapi.shell.CommandResult;
import io.envapi.shell.OutputRing;
import io.envapi.shell.Shell;
import io.envapi.shell.ShellIdentity;
import io.envapi.shell.ShellView;
import java.util.List;

/** How shells, commands and processes are written. */
final class ShellJson {

  private ShellJson() {}

  static ObjectNode identity(ShellIdentity identity) {
    return Json.object()
        .put("id", identity.id().value())
        .put("pid", identity.process().pid())
        .put("pgid", identity.pgid())
        .put("start_ticks", identity.process().startTicks())
        .put("cwd", identity.cwd())
        .put("pty", identity.pty())
        .put("created_at", Json.seconds(identity.createdAt()));
  }

  static ObjectNode shell(ShellView view) {
    ObjectNode json = identity(view.identity());
    json.put("environment_id", view.id().environment().value())
        .put("shell_pid", view.identity().shell().pid())
        .put("state", view.state().label())
        .put("last_activity_at", Json.seconds(view.lastActivityAt()))
        .put("cursor", view.cursor())
        .put("commands_run", view.commandsRun());
    json.set("dead_reason", Json.text(view.deadReason()));
    json.set("current_command_id", Json.text(view.currentCommand().map(CommandId::value)));
    return json;
  }

  static ObjectNode command(CommandRecord command) {
    ObjectNode json =
        Json.object()
            .put("id", command.id().value())
            .put("shell_id", command.id().shell().value())
            .put("environment_id", command.id().environment().value())
            .put("command", command.command())
            .put("state", command.state().label());
    json.set("reason", Json.text(command.reason().map(CommandRecord.Reason::label)));
    json.set("exit_code", Json.number(command.exitCode()));
    json.set("signal", Json.number(command.signal()));
    json.put("started_at", Json.seconds(command.startedAt()));
    json.set("finished_at", Json.seconds(command.finishedAt()));
    json.put("output_start", command.outputStart());
    json.set("output_end", Json.number(command.outputEnd()));
    json.put("log_bytes", command.logBytes()).put("log_truncated", command.logTruncated());
    json.set("timeout_ms", Json.number(command.timeoutMs()));
    if (command.textTruncated()) {
      json.put("command_truncated", true);
    }
    return json;
  }

  static ObjectNode result(CommandResult result) {
    ObjectNode json = command(result.command());
    json.put("output", Json.lossyText(result.output()))
        .put("output_dropped_bytes", result.dropped())
        .put("output_truncated_bytes", result.truncated())
        .put("output_cursor", result.cursor())
        .put("shell_state", result.shellState().label());
    json.set("credentials_injected", Json.texts(result.command().credentialsInjected()));
    json.set("credentials_missing", Json.texts(result.command().credentialsMissing()));
    return json;
  }

  /** A command that ended and whose output was told already. */
  static ObjectNode ended(CommandRecord command, ShellView.State shellState) {
    ObjectNode json = command(command);
    json.set("output_cursor", Json.number(command.outputEnd()));
    json.put("shell_state", shellState.label());
    json.set("credentials_injected", Json.texts(command.credentialsInjected()));
    json.set("credentials_missing", Json.texts(command.credentialsMissing()));
    return json;
  }

  static ObjectNode output(ShellView shell, OutputRing.Slice slice) {
    ObjectNode json =
        Json.object().put("shell_id", shell.id().value()).put("shell_state", shell.state().label());
    json.set("current_command_id", Json.text(shell.currentCommand().map(CommandId::value)));
    return json.put("cursor", slice.cursor())
        .put("next_cursor", slice.next())
        .put("end", slice.end())
        .put("dropped_bytes", slice.dropped())
        .put("data", Json.lossyText(slice.data()))
        .put("data_base64", Json.base64(slice.data()));
  }

  static ObjectNode commandRead(Shell.CommandRead read) {
    return command(read.command())
        .put("output", Json.lossyText(read.output()))
        .put("output_base64", Json.base64(read.output()))
        .put("output_offset", read.offset())
        .put("output_truncated", read.more())
        .put("output_dropped_bytes", read.dropped());
  }

  static ObjectNode commands(ShellId shell, List<CommandRecord> commands) {
    ObjectNode json = Json.object().put("shell_id", shell.value());
    json.set("commands", Json.array(commands, ShellJson::command));
    return json;
  }

  static ObjectNode awaited(Shell.Awaited awaited) {
    ObjectNode json = Json.object().put("status", awaited.idle() ? "idle" : "timed_out");
    json.set("shell", shell(awaited.shell()));
    awaited
        .last()
        .ifPresentOrElse(
            command -> json.set("last_command", command(command)),
            () -> json.putNull("last_command"));
    return json;
  }

  static ObjectNode process(Environment.ShellProcessInfo process) {
    return process(process.shell(), process.process());
  }

  static ObjectNode process(ShellId shell, ProcessInfo process) {
    return Json.object()
        .put("pid", process.pid())
        .put("ppid", process.ppid())
        .put("pgid", process.pgid())
        .put("state", process.state())
        .put("rss_bytes", process.rssBytes())
        .put("cpu_seconds", process.cpuSeconds())
        .put("elapsed_seconds", process.elapsedSeconds())
        .put("cmdline", process.cmdline())
        .put("shell_id", shell.value());
  }
}
