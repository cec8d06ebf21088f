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
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The {@code namespace} tier: an environment is a sandbox, and its shells are windows into it.
 *
 * <p>The first shell starts the environment's {@link Holder}; every shell joins its namespaces with
 * {@code nsenter}. As root, each environment is a host user of its own besides. Without privilege,
 * all are the service's user, each in user namespaces of its own.
 */
public final class NamespaceSandbox implements Sandbox {

  private static final Logger LOG = LoggerFactory.getLogger(NamespaceSandbox.class);
  private static final Failure NO_SANDBOX =
      new Failure.SandboxFailed("the sandbox could not be started");
  private static final Failure NO_TERMINAL =
      new Failure.SandboxFailed("no terminal could be opened");

  /** An environment's holder; whoever starts or stops it holds the lock. */
  private static final class Slot {
    private final ReentrantLock lock = new ReentrantLock();
    private volatile Optional<Holder> holder = Optional.empty();
  }

  /** What is done under a slot's lock. */
  @FunctionalInterface
  private interface Work<T, E extends Exception> {
    T on(Slot slot) throws E;
  }

  private final Host host;
  private final HolderStarter holders;
  private final ShellStarter shells;
  private final Map<EnvironmentId, Slot> slots = new ConcurrentHashMap<>();

  /**
   * @param filter for the holders
   * @param joiner starts shells; its filter lets {@code nsenter} do its work
   * @param staged see {@link HolderStarter}
   */
  NamespaceSandbox(Host host, byte[] filter, Spawner joiner, boolean staged) {
    this.host = host;
    this.holders = new HolderStarter(host, filter, staged);
    this.shells = new ShellStarter(joiner, host.cgroups(), host.settings().shellBinary());
  }

  @Override
  public SandboxTier tier() {
    return SandboxTier.NAMESPACE;
  }

  @Override
  public Layers layers() {
    return new Layers(host.cgroups().version(), true, true, true);
  }

  @Override
  public Result<Workspace> prepare(EnvironmentId environment, int uid) {
    return host.credentials().isRoot()
        ? host.prepare(environment, uid)
        : host.directories().prepare(environment, host.credentials().uid(), OptionalInt.empty());
  }

  @Override
  public Workspace workspace(EnvironmentId environment, int uid) {
    return host.directories().workspace(environment, uid);
  }

  @Override
  public Result<Terminal> openTerminal(
      EnvironmentId environment, Workspace workspace, boolean network) {
    return held(environment, workspace, network)
        .then(
            holder -> {
              try {
                int init = holder.init().pid();
                Pty pty = Pty.open(Path.of("/proc/" + init + "/root/dev/pts/ptmx"));
                if (!holder.isAlive()) {
                  pty.close();
                  return Result.refused(NO_TERMINAL);
                }
                return Result.ok(Terminal.of(pty, owner(workspace)));
              } catch (LinuxException e) {
                LOG.warn("no terminal for {}: {}", environment, e.getMessage());
                return Result.refused(NO_TERMINAL);
              }
            });
  }

  /** The user on the host that shells of a workspace become, if it is not the service's. */
  private OptionalInt owner(Workspace workspace) {
    return host.credentials().isRoot() ? OptionalInt.of(workspace.uid()) : OptionalInt.empty();
  }

  @Override
  public List<String> workspaceNames(Workspace workspace) {
    return List.of(Bubblewrap.WORKSPACE);
  }

  @Override
  public Result<Started> start(Launch launch) {
    return held(launch.environmentId(), launch.workspace(), launch.network())
        .then(holder -> join(launch, holder));
  }

  private Result<Started> join(Launch launch, Holder holder) {
    int init = holder.init().pid();
    OptionalInt owner = owner(launch.workspace());
    long others =
        host.cgroups().holdsProcesses()
            ? 0
            : ProcessScan.threads(ProcessScan.inPidNamespaceOf(init));
    Confinement confinement =
        new Confinement(
            joining(holder, owner), true, Path.of("/"), Bubblewrap.WORKSPACE, owner, init, true);
    return shells
        .start(launch, confinement, others)
        .then(
            started -> {
              // Alive still, so the number was never another process's: these were its namespaces.
              if (holder.isAlive()) {
                return Result.ok(started);
              }
              started.members().killAll();
              started.members().close();
              return Result.refused(NO_SANDBOX);
            });
  }

  private static List<String> joining(Holder holder, OptionalInt owner) {
    String nsenter = Tools.require("nsenter");
    List<String> argv = new ArrayList<>();
    if (owner.isEmpty()) {
      String outer = Integer.toString(holder.monitor());
      argv.addAll(List.of(nsenter, "-t", outer, "-U", "--preserve-credentials", "--"));
    }
    String init = Integer.toString(holder.init().pid());
    argv.addAll(List.of(nsenter, "-t", init, "-U", "-m", "-p", "-i", "-u", "-C"));
    if (!holder.network()) {
      argv.add("-n");
    }
    if (owner.isPresent()) {
      String user = Integer.toString(owner.getAsInt());
      argv.addAll(List.of("--setuid", user, "--setgid", user));
    } else {
      argv.add("--preserve-credentials");
    }
    argv.add("--");
    argv.addAll(List.of(Tools.require("setpriv"), "--no-new-privs", "--inh-caps=-all", "--"));
    return argv;
  }

  private Result<Holder> held(EnvironmentId environment, Workspace workspace, boolean network) {
    try {
      return Result.ok(hold(environment, workspace, network));
    } catch (SandboxException | LinuxException e) {
      LOG.warn("no sandbox for {}: {}", environment, e.getMessage());
      return Result.refused(NO_SANDBOX);
    }
  }

  /** The environment's holder, started where it has none that lives. */
  Holder hold(EnvironmentId environment, Workspace workspace, boolean network)
      throws SandboxException {
    return locked(
        environment,
        slot -> {
          Optional<Holder> present = slot.holder.filter(Holder::isAlive);
          if (present.isPresent()) {
            return present.get();
          }
          slot.holder.ifPresent(Holder::stop);
          Holder started = holders.start(environment, workspace, network);
          slot.holder = Optional.of(started);
          return started;
        });
  }

  /** Works on the environment's slot under its lock, and not on one given up meanwhile. */
  private <T, E extends Exception> T locked(EnvironmentId environment, Work<T, E> work) throws E {
    while (true) {
      Slot slot = slots.computeIfAbsent(environment, id -> new Slot());
      slot.lock.lock();
      try {
        if (slots.get(environment) == slot) {
          return work.on(slot);
        }
      } finally {
        slot.lock.unlock();
      }
    }
  }

  private Optional<Holder> present(EnvironmentId environment) {
    Slot slot = slots.get(environment);
    return slot == null ? Optional.empty() : slot.holder;
  }

  @Override
  public Optional<ProcessIdentity> holder(EnvironmentId environment) {
    return present(environment).filter(Holder::isAlive).map(Holder::init);
  }

  @Override
  public CompletableFuture<Void> lost(EnvironmentId environment) {
    return present(environment).map(Holder::lost).orElseGet(CompletableFuture::new);
  }

  @Override
  public void stop(EnvironmentId environment) {
    locked(
        environment,
        slot -> {
          slot.holder.ifPresent(Holder::stop);
          slot.holder = Optional.empty();
          return slots.remove(environment, slot);
        });
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
