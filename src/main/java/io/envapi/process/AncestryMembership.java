package io.envapi.process;

import io.envapi.linux.Signal;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;

/**
 * The descendants of a shell, and the orphans among them that this service adopted.
 *
 * <p>An orphan is a child of this service (a child subreaper) that was seen as a member before, or
 * is in the session or group of one. Not exact: a process that leaves its session and loses its
 * parent between two looks was never seen, and is missed. Where that matters, a cgroup or a pid
 * namespace keeps the list.
 *
 * <p>A look costs as much as the tree is large and as this service has children, not as the host
 * has processes; where the kernel does not list children, it reads all of {@code /proc}.
 */
public final class AncestryMembership implements Membership {

  /** Only a process stuck in the kernel survives SIGKILL for longer. */
  private static final Duration KILL_LIMIT = Duration.ofSeconds(10);

  private static final Duration FIRST_PAUSE = Duration.ofMillis(1);
  private static final Duration LONGEST_PAUSE = Duration.ofMillis(20);

  private final ProcessIdentity root;
  private final int adopter;
  private final boolean listed;
  private Map<Integer, ProcFs.Stat> seen = Map.of();

  /**
   * Sessions and groups of the last two looks: one look can miss a process that is just forking.
   */
  private Set<Integer> marks = Set.of();

  private Set<Integer> olderMarks = Set.of();

  public AncestryMembership(ProcessIdentity root) {
    this(root, Math.toIntExact(ProcessHandle.current().pid()));
  }

  /**
   * As seen by an adopter of orphans other than this service.
   *
   * @param adopter the process that becomes the parent of orphans: this service, or the first one
   *     of the pid namespace they are in
   */
  public AncestryMembership(ProcessIdentity root, int adopter) {
    this(root, adopter, ProcFs.listsChildren());
  }

  AncestryMembership(ProcessIdentity root, int adopter, boolean listed) {
    this.root = root;
    this.adopter = adopter;
    this.listed = listed;
    ProcFs.stat(root.pid())
        .filter(root::is)
        .ifPresent(
            stat -> {
              seen = Map.of(stat.pid(), stat);
              marks = marks(stat);
            });
  }

  @Override
  public synchronized List<ProcessIdentity> members() {
    IntFunction<List<Integer>> children = listed ? ProcFs::children : scanned();
    Map<Integer, ProcFs.Stat> found = new LinkedHashMap<>();
    for (ProcFs.Stat member : seen.values()) {
      ProcFs.stat(member.pid())
          .filter(ProcessIdentity.of(member)::is)
          .ifPresent(stat -> walk(stat, children, found));
    }
    for (int pid : adopted(children)) {
      ProcFs.stat(pid)
          .filter(stat -> stat.ppid() == adopter && isMarked(stat))
          .ifPresent(stat -> walk(stat, children, found));
    }
    remember(found);
    return found.values().stream().filter(stat -> !stat.ended()).map(ProcessIdentity::of).toList();
  }

  @Override
  public void killAll() {
    long deadline = System.nanoTime() + KILL_LIMIT.toNanos();
    long pause = FIRST_PAUSE.toNanos();
    for (List<ProcessIdentity> left = members();
        !left.isEmpty() && System.nanoTime() < deadline;
        left = members()) {
      left.forEach(member -> member.signal(Signal.KILL));
      LockSupport.parkNanos(pause);
      pause = Math.min(2 * pause, LONGEST_PAUSE.toNanos());
    }
  }

  @Override
  public boolean outOfMemory() {
    return false;
  }

  @Override
  public void close() {}

  /** The shell whose members these are. */
  public ProcessIdentity root() {
    return root;
  }

  /**
   * Adds {@code start} and what is below it, zombies too: one with threads left may have children.
   */
  private void walk(
      ProcFs.Stat start, IntFunction<List<Integer>> children, Map<Integer, ProcFs.Stat> found) {
    Deque<ProcFs.Stat> open = new ArrayDeque<>(List.of(start));
    while (!open.isEmpty()) {
      ProcFs.Stat parent = open.pop();
      if (found.putIfAbsent(parent.pid(), parent) != null) {
        continue;
      }
      for (int pid : children.apply(parent.pid())) {
        // Compared again: the child may have ended, and its number be somebody else's, since.
        ProcFs.stat(pid).filter(child -> child.ppid() == parent.pid()).ifPresent(open::push);
      }
    }
  }

  /**
   * The kernel gives orphans to the first thread that lives, which in a JVM is always the first.
   */
  private List<Integer> adopted(IntFunction<List<Integer>> children) {
    return listed ? ProcFs.children(adopter, adopter) : children.apply(adopter);
  }

  /** One that leads its session or group named it itself, which proves nothing about its origin. */
  private boolean isMarked(ProcFs.Stat stat) {
    return marks(stat).stream()
        .anyMatch(
            mark -> mark != stat.pid() && (marks.contains(mark) || olderMarks.contains(mark)));
  }

  private void remember(Map<Integer, ProcFs.Stat> found) {
    seen = found;
    olderMarks = marks;
    marks = new HashSet<>();
    found.values().forEach(stat -> marks.addAll(marks(stat)));
  }

  private static Set<Integer> marks(ProcFs.Stat stat) {
    return new HashSet<>(List.of(stat.session(), stat.pgid()));
  }

  private static IntFunction<List<Integer>> scanned() {
    Map<Integer, List<Integer>> children = new HashMap<>();
    for (int pid : ProcFs.pids()) {
      Optional<ProcFs.Stat> stat = ProcFs.stat(pid);
      stat.ifPresent(s -> children.computeIfAbsent(s.ppid(), p -> new ArrayList<>()).add(pid));
    }
    return pid -> children.getOrDefault(pid, List.of());
  }
}
