package io.envapi.linux;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * Waits for every child of this process, those it adopts as child subreaper included, on one
 * thread; so no zombie is left and no exit status is lost.
 *
 * <p>It also waits for children that other code of this JVM started ({@code ProcessBuilder}); their
 * exit codes are then lost to that code.
 */
final class Reaper {

  // <bits/waitflags.h>, <bits/siginfo-consts.h>
  private static final int P_ALL = 0;
  private static final int P_PID = 1;
  private static final int WSTOPPED = 2;
  private static final int WEXITED = 4;
  private static final int WNOHANG = 1;
  private static final int WNOWAIT = 0x0100_0000;
  private static final int CLD_EXITED = 1;
  private static final int CLD_STOPPED = 5;

  // siginfo_t on 64-bit Linux.
  static final long SIGINFO_SIZE = 128;
  static final long SI_CODE = 8;
  static final long SI_PID = 16;
  static final long SI_STATUS = 24;

  // int waitid(idtype_t type, id_t id, siginfo_t *info, int options);
  private static final MethodHandle WAITID =
      LibC.downcall(
          "waitid", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT));

  private static final Reaper INSTANCE = start();

  // Only platform threads may take this lock: see Spawner.
  private final ReentrantLock lock = new ReentrantLock(true);
  private final Condition spawned = lock.newCondition();
  private final Map<Integer, Child> children = new HashMap<>();
  private long spawns;

  private Reaper() {}

  static Reaper instance() {
    return INSTANCE;
  }

  /**
   * Runs {@code spawn} with nothing being reaped meanwhile, so that the child cannot be waited for,
   * nor its number be given away, before it is registered.
   */
  Child register(Supplier<Child> spawn) {
    lock.lock();
    try {
      Child child = spawn.get();
      children.put(child.pid(), child);
      return child;
    } finally {
      spawns++;
      spawned.signal();
      lock.unlock();
    }
  }

  private static Reaper start() {
    Prctl.becomeSubreaper();
    Reaper reaper = new Reaper();
    Thread.ofPlatform().daemon().name("reaper").start(reaper::run);
    return reaper;
  }

  private void run() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment info = arena.allocate(SIGINFO_SIZE, 8);
      while (true) {
        long before = spawns();
        if (waitid(P_ALL, 0, info, WEXITED | WSTOPPED | WNOWAIT)) {
          int pid = info.get(JAVA_INT, SI_PID);
          if (info.get(JAVA_INT, SI_CODE) == CLD_STOPPED) {
            stopped(pid, info);
          } else {
            reap(pid, info);
          }
        } else {
          // No child at all, so no descendant that could be adopted either.
          awaitSpawnAfter(before);
        }
      }
    }
  }

  private void stopped(int pid, MemorySegment info) {
    Child child;
    lock.lock();
    try {
      // Killed meanwhile: then its end is what comes next.
      waitid(P_PID, pid, info, WSTOPPED | WNOHANG);
      child = children.get(pid);
    } finally {
      lock.unlock();
    }
    if (child != null) {
      child.stopped();
    }
  }

  private void reap(int pid, MemorySegment info) {
    Child child;
    lock.lock();
    try {
      // Gone already: a spawn that failed, which the C library waited for itself.
      if (!waitid(P_PID, pid, info, WEXITED)) {
        return;
      }
      child = children.remove(pid);
    } finally {
      lock.unlock();
    }
    if (child != null) {
      int status = info.get(JAVA_INT, SI_STATUS);
      child.ended(
          info.get(JAVA_INT, SI_CODE) == CLD_EXITED
              ? new ExitStatus.Exited(status)
              : new ExitStatus.Signaled(status));
    }
  }

  /** False when there is no such child. */
  private static boolean waitid(int type, int id, MemorySegment info, int options) {
    try {
      LibC.call("waitid", e -> (int) WAITID.invokeExact(e, type, id, info, options));
      return true;
    } catch (LinuxException e) {
      if (e.is(Errno.ECHILD)) {
        return false;
      }
      throw e;
    }
  }

  private long spawns() {
    lock.lock();
    try {
      return spawns;
    } finally {
      lock.unlock();
    }
  }

  private void awaitSpawnAfter(long seen) {
    lock.lock();
    try {
      while (spawns == seen) {
        spawned.awaitUninterruptibly();
      }
    } finally {
      lock.unlock();
    }
  }
}
