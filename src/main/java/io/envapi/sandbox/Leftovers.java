package io.envapi.sandbox;

import io.envapi.id.EnvironmentId;
import io.envapi.process.AncestryMembership;
import io.envapi.process.ProcessIdentity;
import java.util.List;

/** Processes that an earlier run of the service left behind. */
final class Leftovers {

  private Leftovers() {}

  /**
   * Kills the recorded processes that are still the same, what is below them, and what is in the
   * groups of the environment.
   *
   * @return how many there were
   */
  static int end(Cgroups cgroups, EnvironmentId environment, List<ProcessIdentity> recorded) {
    int killed = kill(recorded);
    Cgroup group = cgroups.existing(environment);
    killed += group.pids().size();
    new CgroupMembership(group).killAll();
    group.remove();
    return killed;
  }

  private static int kill(List<ProcessIdentity> recorded) {
    int killed = 0;
    for (ProcessIdentity process : recorded) {
      if (process.isAlive()) {
        AncestryMembership tree = new AncestryMembership(process);
        killed += tree.members().size();
        tree.killAll();
      }
    }
    return killed;
  }
}
