package io.envapi.sandbox;

import io.envapi.process.AncestryMembership;
import io.envapi.process.ProcessIdentity;
import java.util.List;

/** Processes that an earlier run of the service left behind. */
final class Leftovers {

  private Leftovers() {}

  /**
   * Kills the recorded processes that are still the same, and what is below them.
   *
   * @return how many there were
   */
  static int kill(List<ProcessIdentity> recorded) {
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
