package io.envapi.sandbox;

import io.envapi.failure.Result;
import io.envapi.id.EnvironmentId;
import io.envapi.linux.Boot;
import io.envapi.linux.Signal;
import io.envapi.linux.Spawn;
import io.envapi.process.ProcessIdentity;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The {@code user} tier: every environment is a user of its own, with no privilege. Needs root. A
 * user is a number alone, so none is ever added to the system's.
 */
public final class UserSandbox extends OpenSandbox {

  UserSandbox(Host host, Optional<ReachableRoot> reachable) {
    super(host, reachable);
  }

  @Override
  public SandboxTier tier() {
    return SandboxTier.USER;
  }

  @Override
  public Result<Workspace> prepare(EnvironmentId environment, int uid) {
    return host().prepare(environment, uid);
  }

  @Override
  OptionalInt owner(int uid) {
    if (!host().lends(uid)) {
      throw new IllegalArgumentException("uid " + uid + " is not lent to environments");
    }
    return OptionalInt.of(uid);
  }

  @Override
  public void stop(EnvironmentId environment) {
    super.stop(environment);
    if (!host().cgroups().available()) {
      host().directories().owner(environment).filter(host()::lends).ifPresent(this::killUser);
    }
  }

  /** The kernel's own loop over the processes of a user, kill(2), which a fork cannot outrun. */
  private void killUser(int uid) {
    List<String> argv = new ArrayList<>(Host.become(uid));
    argv.addAll(List.of("/bin/sh", "-c", "kill -KILL -1"));
    host().spawner().spawn(Spawn.of(argv).environment(Map.of("PATH", Tools.PATH))).exit().join();
  }

  /**
   * Where no control group remembers the processes, those of the environment's user that are not
   * older than its first recorded one are its own.
   */
  @Override
  public int reconcile(EnvironmentId environment, List<ProcessIdentity> recorded) {
    int killed = super.reconcile(environment, recorded);
    List<ProcessIdentity> thisBoot =
        recorded.stream().filter(process -> process.bootId().equals(Boot.id())).toList();
    Optional<Integer> uid = host().directories().owner(environment).filter(host()::lends);
    if (host().cgroups().available() || uid.isEmpty() || thisBoot.isEmpty()) {
      return killed;
    }
    long first = thisBoot.stream().mapToLong(ProcessIdentity::startTicks).min().getAsLong();
    for (int pid : ProcessScan.ofUser(uid.get())) {
      Optional<ProcessIdentity> process =
          ProcessIdentity.of(pid).filter(found -> found.startTicks() >= first);
      if (process.isPresent() && process.get().signal(Signal.KILL)) {
        killed++;
      }
    }
    return killed;
  }
}
