package io.envapi.sandbox;

import io.envapi.linux.Signal;
import io.envapi.process.Membership;
import io.envapi.process.ProcessIdentity;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;

/** The processes in a control group: exact, since the kernel keeps the list. */
final class CgroupMembership implements Membership {

  private static final Duration KILL_LIMIT = Duration.ofSeconds(10);
  private static final Duration FIRST_PAUSE = Duration.ofMillis(1);
  private static final Duration LONGEST_PAUSE = Duration.ofMillis(20);

  private final Cgroup group;
  private long memoryKills;

  CgroupMembership(Cgroup group) {
    this.group = group;
  }

  @Override
  public List<ProcessIdentity> members() {
    return group.pids().stream()
        .map(ProcessIdentity::of)
        .flatMap(Optional::stream)
        .filter(ProcessIdentity::isAlive)
        .toList();
  }

  @Override
  public void killAll() {
    long deadline = System.nanoTime() + KILL_LIMIT.toNanos();
    Duration pause = FIRST_PAUSE;
    while (System.nanoTime() < deadline) {
      if (!group.killAtOnce()) {
        killOneByOne();
      }
      if (members().isEmpty()) {
        return;
      }
      LockSupport.parkNanos(pause.toNanos());
      Duration longer = pause.multipliedBy(2);
      pause = longer.compareTo(LONGEST_PAUSE) < 0 ? longer : LONGEST_PAUSE;
    }
  }

  /** A member that ends meanwhile is not confused with its successor: the list is read again. */
  private void killOneByOne() {
    for (ProcessIdentity member : members()) {
      if (group.pids().contains(member.pid())) {
        member.signal(Signal.KILL);
      }
    }
  }

  @Override
  public synchronized boolean outOfMemory() {
    long now = group.memoryKills();
    boolean killed = now > memoryKills;
    memoryKills = now;
    return killed;
  }

  @Override
  public void close() {
    group.remove();
  }
}
