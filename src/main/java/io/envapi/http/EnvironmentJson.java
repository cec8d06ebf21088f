package io.envapi.http;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.envapi.account.EnvironmentSpec;
import io.envapi.account.Quotas;
import io.envapi.environment.EnvironmentView;
import io.envapi.environment.ShellRecord;
import io.envapi.environment.UsageView;
import io.envapi.host.Environments;
import io.envapi.id.EnvironmentId;
import io.envapi.shell.ShellEnd;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** How environments are written. */
final class EnvironmentJson {

  private EnvironmentJson() {}

  static ObjectNode environment(EnvironmentView view) {
    EnvironmentSpec spec = view.spec();
    ObjectNode json =
        Json.object()
            .put("id", view.id().value())
            .put("account_id", view.account().value())
            .put("profile", spec.profile())
            .put("name", spec.name());
    json.set("labels", labels(spec.labels()));
    json.set("credentials", Json.texts(spec.credentials()));
    json.set("limits", limits(spec.limits()));
    json.put("network", spec.network())
        .put("state", view.state().name().toLowerCase(Locale.ROOT))
        .put("sandbox_tier", view.tier().label())
        .put("created_at", Json.seconds(view.createdAt()))
        .put("updated_at", Json.seconds(view.updatedAt()))
        .put("last_activity_at", Json.seconds(view.lastActivityAt()));
    json.set("archived_at", Json.seconds(view.archivedAt()));
    EnvironmentSpec.Choices choices = spec.choices();
    json.set("environment_idle_ttl_seconds", Json.exact(choices.environmentIdleTtlSeconds()));
    json.set("shell_idle_ttl_seconds", Json.exact(choices.shellIdleTtlSeconds()));
    json.set("shells", Json.array(view.shells(), EnvironmentJson::shellRecord));
    json.put("shells_running", view.shellsRunning());
    json.set("disk_bytes", Json.number(view.diskBytes()));
    return json;
  }

  static ObjectNode environments(List<EnvironmentView> views) {
    ObjectNode json = Json.object();
    json.set("environments", Json.array(views, EnvironmentJson::environment));
    return json;
  }

  /**
   * @param place what the account has and may use
   */
  static ObjectNode usage(EnvironmentId id, UsageView usage, Environments.Place place) {
    Quotas quotas = place.quotas();
    ObjectNode json = Json.object().put("environment_id", id.value());
    json.set(
        "disk",
        Json.object()
            .put("workspace_bytes", usage.workspaceBytes())
            .put("logs_bytes", usage.logsBytes())
            .put("total_bytes", usage.workspaceBytes() + usage.logsBytes())
            .put("max_bytes", usage.maxDiskBytes()));
    json.set(
        "shells",
        Json.object().put("running", usage.shellsRunning()).put("max", usage.maxShells()));
    json.set("processes", Json.object().put("count", usage.processes()));
    json.set(
        "environments",
        Json.object()
            .put("in_profile", place.inProfile())
            .put("max_per_profile", quotas.maxEnvironmentsPerProfile())
            .put("in_account", place.inAccount())
            .put("max_per_account", quotas.maxEnvironmentsPerAccount()));
    json.set(
        "limits",
        Json.object()
            .put("nproc", usage.limits().processes())
            .put("memory_bytes", usage.limits().memoryBytes())
            .put("file_size_bytes", usage.limits().fileSizeBytes())
            .put("cpu_seconds", usage.limits().cpuSeconds()));
    return json;
  }

  private static ObjectNode labels(Map<String, String> labels) {
    ObjectNode json = Json.object();
    new TreeMap<>(labels).forEach(json::put);
    return json;
  }

  private static ObjectNode limits(EnvironmentSpec.LimitOverrides limits) {
    ObjectNode json = Json.object();
    json.set("max_memory_bytes", Json.number(limits.maxMemoryBytes()));
    json.set("max_cpu_seconds", Json.number(limits.maxCpuSeconds()));
    json.set("max_file_size_bytes", Json.number(limits.maxFileSizeBytes()));
    json.set("max_processes_per_shell", Json.number(limits.maxProcessesPerShell()));
    return json;
  }

  private static ObjectNode shellRecord(ShellRecord shell) {
    ObjectNode json = ShellJson.identity(shell.identity());
    json.put("state", shell.state().label());
    json.set("dead_reason", Json.text(shell.end().map(ShellEnd::reason)));
    return json;
  }
}
