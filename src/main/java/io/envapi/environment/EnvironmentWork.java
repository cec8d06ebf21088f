package io.envapi.environment;

import io.envapi.account.EnvironmentSpec.LimitOverrides;
import io.envapi.account.Quotas;
import io.envapi.failure.Failure;
import io.envapi.failure.Result;
import io.envapi.id.EnvironmentId;
import io.envapi.id.ShellId;
import io.envapi.linux.Signal;
import io.envapi.process.ProcessIdentity;
import io.envapi.process.ProcessInfo;
import io.envapi.sandbox.Limits;
import io.envapi.sandbox.Workspace;
import io.envapi.shell.ShellProcess;
import io.envapi.shell.ShellProcesses;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What an environment does on disk and to processes: it blocks, and never runs on an actor's
 * thread.
 */
final class EnvironmentWork {

  private static final Logger LOG = LoggerFactory.getLogger(EnvironmentWork.class);

  private final EnvironmentId id;
  private final EnvironmentRuntime runtime;

  EnvironmentWork(EnvironmentId id, EnvironmentRuntime runtime) {
    this.id = id;
    this.runtime = runtime;
  }

  /** Makes sure of the directories, and ends what an earlier service left running. */
  Result<Workspace> takeUp(EnvironmentState.Present present, List<ProcessIdentity> lost) {
    if (!lost.isEmpty()) {
      int killed = runtime.sandbox().reconcile(id, lost);
      LOG.info("{}: took up {} recorded processes, killed {}", id, lost.size(), killed);
    }
    return runtime.sandbox().prepare(id, present.uid());
  }

  Result<ShellProcess> openShell(
      EnvironmentState.Present present,
      Workspace workspace,
      ShellId shell,
      EnvironmentShells.Wanted wanted,
      String cwd,
      Quotas quotas) {
    return runtime
        .processes()
        .open(
            new ShellProcesses.Opening(
                shell,
                workspace,
                cwd,
                wanted.environment(),
                limits(present, quotas),
                present.spec().network(),
                wanted.terminal(),
                (int) Math.min(Integer.MAX_VALUE, quotas.maxOutputBufferBytes())));
  }

  /** The processes of all live shells. */
  List<Environment.ShellProcessInfo> processes() {
    return runtime.processes().of(id).stream()
        .flatMap(
            shell ->
                shell.started().members().members().stream()
                    .flatMap(member -> ProcessInfo.read(member.pid()).stream())
                    .map(info -> new Environment.ShellProcessInfo(shell.id(), info)))
        .toList();
  }

  /** Signals a process if it is one of a live shell of this environment. */
  Environment.SignalReply signal(Environment.SignalProcess request) {
    Optional<Signal> signal = Signal.parse(request.signal());
    if (signal.isEmpty()) {
      return new Environment.Refused(new Failure.InvalidSignal(request.signal()));
    }
    for (ShellProcess shell : runtime.processes().of(id)) {
      for (ProcessIdentity member : shell.started().members().members()) {
        if (member.pid() == request.pid() && member.signal(signal.get())) {
          return new Environment.Signalled(signal.get().number(), shell.id());
        }
      }
    }
    return new Environment.Refused(
        new Failure.NotFound(Failure.Kind.PROCESS, Integer.toString(request.pid())));
  }

  /** Ends the tier's own processes and empties workspace and logs. */
  void empty(Workspace workspace) {
    runtime.sandbox().stop(id);
    runtime.sandbox().wipe(workspace);
  }

  /** Ends everything of the environment and deletes what it has on the host. */
  void remove(int uid) {
    switch (runtime.sandbox().prepare(id, uid)) {
      case Result.Ok<Workspace>(var workspace) -> runtime.sandbox().remove(id, workspace);
      case Result.Refused<Workspace>(var failure) ->
          LOG.warn("{}: its directories cannot be removed: {}", id, failure);
    }
  }

  /** The limits of the environment where it has its own, the account's quotas otherwise. */
  static Limits limits(EnvironmentState.Present present, Quotas quotas) {
    LimitOverrides own = present.spec().limits();
    return new Limits(
        own.maxProcessesPerShell().orElse(quotas.maxProcessesPerShell()),
        own.maxMemoryBytes().orElse(quotas.maxMemoryBytes()),
        own.maxCpuSeconds().orElse(quotas.maxCpuSeconds()),
        own.maxFileSizeBytes().orElse(quotas.maxFileSizeBytes()));
  }
}
