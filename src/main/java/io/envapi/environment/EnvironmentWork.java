package io.envapi.environment;

import io.envapi.account.EnvironmentSpec.LimitOverrides;
import io.envapi.account.Quotas;
import io.envapi.failure.Failure;
import io.envapi.failure.Result;
import io.envapi.files.DiskUsage;
import io.envapi.files.FileAnswer;
import io.envapi.files.FileLimits;
import io.envapi.files.FileTree;
import io.envapi.files.TransferAnswer;
import io.envapi.files.TreeRemoval;
import io.envapi.id.EnvironmentId;
import io.envapi.id.ShellId;
import io.envapi.linux.LinuxException;
import io.envapi.linux.Signal;
import io.envapi.process.ProcessIdentity;
import io.envapi.process.ProcessInfo;
import io.envapi.sandbox.Limits;
import io.envapi.sandbox.Workspace;
import io.envapi.shell.CommandLogs;
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
  private final IdleTransfers idleTransfers;
  private volatile Optional<FileTree> tree = Optional.empty();

  EnvironmentWork(EnvironmentId id, EnvironmentRuntime runtime) {
    this.id = id;
    this.runtime = runtime;
    this.idleTransfers = new IdleTransfers(runtime.shells().blocking());
  }

  /**
   * @param killed processes of an earlier service
   */
  record TakenUp(Result<Workspace> workspace, int killed) {}

  /**
   * Makes sure of the directories, and ends what an earlier service left running and what this one
   * started but could not store.
   *
   * <p>Where this service has shells of the environment, it is the actor alone that started again,
   * and a sandbox that looked for leftovers would find those shells.
   */
  TakenUp takeUp(EnvironmentState.Present present, List<ProcessIdentity> lost) {
    runtime.processes().dropSpare(id);
    List<ShellProcess> live = runtime.processes().of(id);
    live.stream()
        .filter(p -> present.shell(p.id()).filter(ShellRecord::isRunning).isEmpty())
        .forEach(ShellProcess::kill);
    // Without a record too: a service may be killed before it has stored what it started.
    boolean mayBeLeft = !lost.isEmpty() || runtime.sandbox().holder(id).isEmpty();
    int killed = 0;
    if (mayBeLeft && live.isEmpty()) {
      killed = runtime.sandbox().reconcile(id, lost);
      // The keeper of a sandbox is recorded also when it ended in order.
      if (!present.running().isEmpty() || killed > 0) {
        LOG.info("{}: took up {} recorded processes, killed {}", id, lost.size(), killed);
      }
    }
    return new TakenUp(runtime.sandbox().prepare(id, present.uid()).map(this::whole), killed);
  }

  /** Opened at once where names were left half changed, before a shell can see them. */
  private Workspace whole(Workspace workspace) {
    if (FileTree.isCutOff(workspace.logs())) {
      LOG.info("{}: a transaction on its files was cut off and is taken back", id);
      tree(workspace);
    }
    return workspace;
  }

  /**
   * @param spare the id of a spare shell that may be started with it
   */
  Result<ShellProcess> openShell(
      EnvironmentState.Present present,
      Workspace workspace,
      ShellId shell,
      Optional<ShellId> spare,
      WantedShell wanted,
      String cwd,
      Quotas quotas) {
    var opening =
        new ShellProcesses.Opening(
            shell,
            workspace,
            cwd,
            wanted.environment(),
            limits(present, quotas),
            present.spec().network(),
            wanted.terminal(),
            present.spec().choices().shell(),
            (int) Math.min(Integer.MAX_VALUE, quotas.maxOutputBufferBytes()));
    return runtime.processes().open(opening, spare);
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

  Environment.FileReply runFile(Workspace workspace, Environment.RunFile run) {
    return switch (tree(workspace).run(run.operation(), limits(run.quotas()))) {
      case Result.Ok<FileAnswer>(var answer) -> new Environment.FileDone(answer);
      case Result.Refused<FileAnswer>(var failure) -> new Environment.Refused(failure);
    };
  }

  Environment.TransferReply transfer(Workspace workspace, Environment.Transfer transfer) {
    FileTree files = tree(workspace);
    Result<TransferAnswer> answer = files.transfer(transfer.step(), limits(transfer.quotas()));
    idleTransfers.watch(files);
    return switch (answer) {
      case Result.Ok<TransferAnswer>(var done) -> new Environment.Transferred(done);
      case Result.Refused<TransferAnswer>(var failure) -> new Environment.Refused(failure);
    };
  }

  private FileLimits limits(Quotas quotas) {
    return new FileLimits(
        runtime.files().maxReadBytes(), runtime.files().maxWriteBytes(), quotas.maxDiskBytes());
  }

  UsageView usage(EnvironmentState.Present present, Workspace workspace, Quotas quotas) {
    DiskUsage disk = tree(workspace).measure();
    return new UsageView(
        disk.workspaceBytes(),
        disk.logsBytes(),
        quotas.maxDiskBytes(),
        present.running().size(),
        quotas.maxShellsPerEnvironment(),
        processes().size(),
        limits(present, quotas));
  }

  /** Bytes of workspace and logs. */
  long diskBytes(Workspace workspace) {
    return tree(workspace).measure().totalBytes();
  }

  /** The same without a look at the disk, unless only that would tell. Never blocks. */
  Optional<Long> knownDiskBytes() {
    return tree.flatMap(FileTree::known);
  }

  /** Deletes the oldest command logs until all together are within {@code most} bytes. */
  int pruneLogs(Workspace workspace, long most) {
    return CommandLogs.prune(workspace.logs(), most);
  }

  /**
   * Ends the tier's own processes and empties workspace and logs.
   *
   * @throws IllegalStateException when something is left in them
   */
  void empty(Workspace workspace) {
    runtime.processes().dropSpare(id);
    runtime.sandbox().stop(id);
    close();
    try {
      TreeRemoval.emptyTree(workspace.files());
      TreeRemoval.emptyTree(workspace.logs());
    } catch (LinuxException | IllegalStateException e) {
      LOG.warn("{}: not emptied at once: {}", id, e.toString());
      if (!runtime.sandbox().wipe(workspace)) {
        throw new IllegalStateException("files are left", e);
      }
    }
  }

  /** Opened when first needed, since most environments are looked at more often than used. */
  private synchronized FileTree tree(Workspace workspace) {
    FileTree open =
        tree.orElseGet(
            () ->
                FileTree.open(
                    workspace.files(),
                    workspace.logs(),
                    workspace.uid(),
                    runtime.sandbox().workspaceNames(workspace)));
    tree = Optional.of(open);
    return open;
  }

  private synchronized void close() {
    tree.ifPresent(FileTree::close);
    tree = Optional.empty();
  }

  /**
   * Ends everything of the environment and deletes what it has on the host.
   *
   * @throws IllegalStateException when something is left
   */
  void remove(int uid) {
    runtime.processes().dropSpare(id);
    runtime.sandbox().stop(id);
    runtime.processes().forget(id);
    close();
    // Nothing is made first, for which a full disk would have no room.
    Workspace workspace = runtime.sandbox().workspace(id, uid);
    try {
      TreeRemoval.deleteTree(workspace.root());
    } catch (LinuxException | IllegalStateException e) {
      LOG.warn("{}: not removed at once: {}", id, e.toString());
    }
    if (!runtime.sandbox().remove(id, workspace)) {
      throw new IllegalStateException("files are left");
    }
  }

  /** Shells that are only history: what cannot be deleted now goes with the environment. */
  void forgetRows(List<ShellId> shells) {
    runtime
        .rows()
        .forget(shells)
        .whenComplete(
            (_, failure) -> {
              if (failure != null) {
                LOG.warn(
                    "{}: rows of {} shells stay in the journal: {}",
                    id,
                    shells.size(),
                    failure.toString());
              }
            });
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
