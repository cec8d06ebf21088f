package io.envapi.sandbox;

import io.envapi.failure.Failure;
import io.envapi.failure.Result;
import io.envapi.linux.Child;
import io.envapi.linux.FileDescriptor;
import io.envapi.linux.LinuxException;
import io.envapi.linux.Memfd;
import io.envapi.linux.Pipe;
import io.envapi.linux.Signal;
import io.envapi.linux.Spawn;
import io.envapi.linux.Spawner;
import io.envapi.process.AncestryMembership;
import io.envapi.process.Membership;
import io.envapi.process.ProcFs;
import io.envapi.process.ProcessIdentity;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts a shell in a confinement and puts its limits on it.
 *
 * <p>There is no moment at which a caller's code runs without them: the shell's first line comes
 * through its script pipe, and that is written after {@link #start} has answered.
 */
final class ShellStarter {

  private static final Logger LOG = LoggerFactory.getLogger(ShellStarter.class);
  private static final Failure FAILED = new Failure.SandboxFailed("the shell could not be started");
  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final long PAUSE_NANOS = 50_000;
  private static final List<Integer> OUTPUTS = List.of(1, 2, 8);

  private final Spawner spawner;
  private final Cgroups cgroups;
  private final Path shell;

  ShellStarter(Spawner spawner, Cgroups cgroups, Path shell) {
    this.spawner = spawner;
    this.cgroups = cgroups;
    this.shell = shell;
  }

  /**
   * @param others processes of the shell's user that are not the shell's, where the kernel counts
   *     them together
   */
  Result<Started> start(Launch launch, Confinement confinement, long others) {
    Optional<Cgroup> group = cgroups.shell(launch.shellId());
    if (group.isEmpty() && cgroups.available()) {
      LOG.warn("no control group could be made for {}", launch.shellId());
      return Result.refused(FAILED);
    }
    Optional<Child> child = Optional.empty();
    try (Pipe ready = Pipe.open()) {
      Directories.keepEnterable(launch.workspace());
      child = Optional.of(spawn(launch, confinement, others, ready.write(), group));
      ready.write().close();
      int wrappers = confinement.forks() ? 1 : 0;
      if (!group.map(made -> cgroups.limit(made, launch.limits(), wrappers)).orElse(true)) {
        throw new NotStarted("its limits could not be set");
      }
      return Result.ok(started(confinement, child.get(), group, ready.read()));
    } catch (NoDirectory e) {
      end(child, group);
      return Result.refused(new Failure.InvalidCwd(launch.cwd()));
    } catch (IOException | LinuxException | NotStarted e) {
      LOG.warn("{} could not be started: {}", launch.shellId(), e.getMessage());
      end(child, group);
      return Result.refused(FAILED);
    }
  }

  private static void end(Optional<Child> child, Optional<Cgroup> group) {
    child.ifPresent(spawned -> spawned.signal(Signal.KILL));
    group.ifPresent(
        made -> {
          Membership members = new CgroupMembership(made);
          members.killAll();
          members.close();
        });
  }

  private Child spawn(
      Launch launch,
      Confinement confinement,
      long others,
      FileDescriptor ready,
      Optional<Cgroup> group) {
    String cwd = launch.cwd().equals(".") ? "" : "/" + launch.cwd();
    List<String> limits = ShellLimits.commands(launch.limits(), cgroups, others);
    try (Memfd prelude = Memfd.create("prelude")) {
      prelude.replace(
          Prelude.text(
              limits,
              confinement.home() + cwd,
              launch.environment(),
              launch.terminal().isPresent()));
      try (FileDescriptor reader = prelude.openReadOnly()) {
        Map<Integer, FileDescriptor> descriptors = new TreeMap<>();
        descriptors.put(0, launch.stdin());
        descriptors.put(7, launch.bulk());
        descriptors.put(9, launch.script());
        descriptors.put(Prelude.DESCRIPTOR, reader);
        descriptors.put(Prelude.READY, ready);
        confinement.owner().ifPresent(uid -> give(launch, uid));
        Spawn spawn =
            Spawn.of(argv(launch, confinement))
                .environment(
                    Prelude.variables(
                        launch.environmentId(), confinement.home(), launch.terminal().isPresent()))
                .in(confinement.start());
        if (launch.terminal().isPresent() && !confinement.terminalInside()) {
          spawn = spawn.terminal(launch.terminal().get().slave(), new TreeSet<>(OUTPUTS));
        } else {
          // With a terminal inside, the ready pipe stands in until that is open.
          FileDescriptor output = launch.output().orElse(ready);
          OUTPUTS.forEach(number -> descriptors.put(number, output));
        }
        Spawn complete = spawn.descriptors(descriptors);
        return group
            .map(made -> cgroups.spawn(spawner, complete, made))
            .orElseGet(() -> spawner.spawn(complete));
      }
    }
  }

  /** Opening {@code /dev/stdin} or {@code /dev/fd/9} is checked against the owner of the pipe. */
  private static void give(Launch launch, int uid) {
    launch.stdin().giveTo(uid, uid);
    launch.script().giveTo(uid, uid);
    launch.output().ifPresent(output -> output.giveTo(uid, uid));
  }

  private List<String> argv(Launch launch, Confinement confinement) {
    List<String> argv = new ArrayList<>(confinement.wrapper());
    if (confinement.terminalInside() && launch.terminal().isPresent()) {
      // The leader of a session that has no terminal gets the first one it opens, tty_ioctl(4).
      argv.addAll(
          List.of(
              Tools.require("setsid"),
              "/bin/sh",
              "-c",
              "tty=$1; shift; exec \"$@\" 1<>\"$tty\" 2>&1 8>&1",
              "sh",
              "/dev/pts/" + launch.terminal().get().slave().getFileName()));
    }
    String bash = launch.preferred().flatMap(InstalledBash::find).orElse(shell.toString());
    argv.addAll(List.of(bash, "--noprofile", "--norc", Prelude.SCRIPT));
    return argv;
  }

  private Started started(
      Confinement confinement, Child child, Optional<Cgroup> group, FileDescriptor ready) {
    awaitReady(child, ready);
    int shellPid = confinement.forks() ? onlyChild(child.pid()) : child.pid();
    for (int pid : List.of(child.pid(), shellPid)) {
      if (!group.map(made -> made.contains(pid) || made.add(pid)).orElse(true)) {
        throw new NotStarted("it could not be put into its control group");
      }
    }
    ProcessIdentity process = identity(child.pid());
    Membership members =
        group
            .<Membership>map(CgroupMembership::new)
            .orElseGet(() -> new AncestryMembership(process, confinement.adopter()));
    return new Started(child, process, identity(shellPid), child.pid(), members);
  }

  private static int onlyChild(int parent) {
    List<Integer> listed = ProcFs.children(parent);
    return (listed.isEmpty() ? ProcFs.pids() : listed)
        .stream()
            .filter(pid -> ProcFs.stat(pid).filter(stat -> stat.ppid() == parent).isPresent())
            .findFirst()
            .orElseThrow(() -> new NotStarted("its shell ended at once"));
  }

  private static ProcessIdentity identity(int pid) {
    return ProcessIdentity.of(pid).orElseThrow(() -> new NotStarted("it ended at once"));
  }

  /** Waits for the shell's word that it is confined and limited; anything else is a failure. */
  private static void awaitReady(Child child, FileDescriptor ready) {
    ready.setNonBlocking();
    byte[] word = new byte[256];
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (System.nanoTime() < deadline) {
      int read = ready.read(word, 0, word.length);
      if (read > 0 && word[read - 1] == '.') {
        return;
      }
      if (read > 0 && word[read - 1] == Prelude.NO_DIRECTORY) {
        throw new NoDirectory();
      }
      if (read > 0) {
        LOG.warn("{}", new String(word, 0, read, StandardCharsets.UTF_8).strip());
      }
      if (read == 0 || !child.isAlive()) {
        throw new NotStarted("it ended before it ran");
      }
      LockSupport.parkNanos(PAUSE_NANOS);
    }
    throw new NotStarted("it took too long");
  }

  /** The shell may not enter its working directory. */
  private static final class NoDirectory extends RuntimeException {}

  /** A start that went wrong before the shell ran. */
  private static final class NotStarted extends RuntimeException {
    NotStarted(String reason) {
      super(reason);
    }
  }
}
