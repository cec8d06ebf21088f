package io.envapi.sandbox;

import io.envapi.failure.Failure;
import io.envapi.failure.Result;
import io.envapi.id.EnvironmentId;
import io.envapi.linux.LinuxException;
import io.envapi.linux.Pty;
import io.envapi.linux.Spawner;
import io.envapi.process.ProcessIdentity;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A tier whose shells share the host's namespaces: they differ in the user alone. */
abstract sealed class OpenSandbox implements Sandbox permits DirectorySandbox, UserSandbox {

  private static final Logger LOG = LoggerFactory.getLogger(OpenSandbox.class);
  private static final Path PTMX = Path.of("/dev/ptmx");

  private final Host host;
  private final ShellStarter starter;
  private final boolean filtered;
  private final Optional<ReachableRoot> reachable;

  /**
   * @param reachable where shells can reach their workspace if they cannot on the host
   */
  OpenSandbox(Host host, Optional<ReachableRoot> reachable) {
    this.host = host;
    this.reachable = reachable;
    Optional<byte[]> filter =
        Seccomp.filter(reachable.isPresent() ? Seccomp.Place.HOST_JOINING : Seccomp.Place.HOST);
    Optional<Spawner> confined = filter.flatMap(OpenSandbox::confined);
    this.filtered = confined.isPresent();
    this.starter =
        new ShellStarter(
            confined.orElse(host.spawner()), host.cgroups(), host.settings().shellBinary());
  }

  private static Optional<Spawner> confined(byte[] filter) {
    try {
      return Optional.of(Spawner.confined(filter));
    } catch (LinuxException e) {
      LOG.warn("no system call filter: {}", e.getMessage());
      return Optional.empty();
    }
  }

  /** The user that shells of a workspace become, if it is not the service's. */
  abstract OptionalInt owner(int uid);

  Host host() {
    return host;
  }

  @Override
  public Layers layers() {
    return new Layers(host.cgroups().version(), filtered, false, false);
  }

  @Override
  public Result<Workspace> prepare(EnvironmentId environment, int uid) {
    OptionalInt owner = owner(uid);
    return host.directories().prepare(environment, owner.orElse(host.credentials().uid()), owner);
  }

  @Override
  public Workspace workspace(EnvironmentId environment, int uid) {
    return host.directories().workspace(environment, uid);
  }

  @Override
  public Result<Terminal> openTerminal(
      EnvironmentId environment, Workspace workspace, boolean network) {
    OptionalInt owner = owner(workspace.uid());
    try {
      return Result.ok(Terminal.of(Pty.open(PTMX), owner));
    } catch (LinuxException e) {
      LOG.warn("no terminal for {}: {}", environment, e.getMessage());
      return Result.refused(new Failure.SandboxFailed("no terminal could be opened"));
    }
  }

  @Override
  public List<String> workspaceNames(Workspace workspace) {
    return List.of(workspace.files().toString());
  }

  @Override
  public Result<Started> start(Launch launch) {
    Path files = launch.workspace().files();
    OptionalInt owner = owner(launch.workspace().uid());
    int user = owner.orElse(host.credentials().uid());
    long others =
        host.cgroups().holdsProcesses() ? 0 : ProcessScan.threads(ProcessScan.ofUser(user));
    List<String> wrapper = new ArrayList<>();
    reachable.ifPresent(root -> wrapper.addAll(root.entering()));
    owner.ifPresent(uid -> wrapper.addAll(Host.become(uid)));
    return starter
        .start(
            launch,
            new Confinement(
                wrapper,
                false,
                reachable.isPresent() ? Path.of("/") : files,
                files.toString(),
                owner,
                Math.toIntExact(ProcessHandle.current().pid()),
                false),
            others)
        .then(this::inItsPlace);
  }

  /** The number of a process that has ended may mean another one, in another namespace. */
  private Result<Started> inItsPlace(Started started) {
    if (reachable.map(ReachableRoot::isAlive).orElse(true)) {
      return Result.ok(started);
    }
    started.members().killAll();
    started.members().close();
    return Result.refused(new Failure.SandboxFailed("the shell could not be started"));
  }

  @Override
  public Optional<ProcessIdentity> holder(EnvironmentId environment) {
    return Optional.empty();
  }

  @Override
  public CompletableFuture<Void> lost(EnvironmentId environment) {
    return new CompletableFuture<>();
  }

  @Override
  public void stop(EnvironmentId environment) {
    Cgroup group = host.cgroups().existing(environment);
    new CgroupMembership(group).killAll();
    group.remove();
  }

  @Override
  public boolean wipe(Workspace workspace) {
    return host.directories().wipe(workspace);
  }

  @Override
  public boolean remove(EnvironmentId environment, Workspace workspace) {
    stop(environment);
    return host.directories().remove(workspace);
  }

  @Override
  public int reconcile(EnvironmentId environment, List<ProcessIdentity> recorded) {
    return Leftovers.end(host.cgroups(), environment, recorded);
  }
}
