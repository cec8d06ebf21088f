package io.envapi.linux;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Set;

/** posix_spawn(3) of a {@link Spawn}; the caller holds the reaper off. */
final class PosixSpawn {

  // <spawn.h>
  private static final short POSIX_SPAWN_SETSIGDEF = 0x04;
  private static final short POSIX_SPAWN_SETSIGMASK = 0x08;
  private static final short POSIX_SPAWN_SETSID = 0x80;
  private static final int O_RDWR = 2;

  // Larger than sizeof(posix_spawnattr_t) 336, posix_spawn_file_actions_t 80 and sigset_t 128.
  static final long ATTR_ROOM = 512;
  static final long ACTIONS_ROOM = 256;
  static final long SIGSET_ROOM = 256;

  // int f(pointer); int f(pointer, int); int f(pointer, pointer); and so on.
  private static final FunctionDescriptor P = FunctionDescriptor.of(JAVA_INT, ADDRESS);
  private static final FunctionDescriptor PI = P.appendArgumentLayouts(JAVA_INT);
  private static final FunctionDescriptor PP = P.appendArgumentLayouts(ADDRESS);

  private static final MethodHandle POSIX_SPAWN =
      LibC.downcall(
          "posix_spawn",
          FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS));
  // int kill(pid_t pid, int sig);
  private static final MethodHandle KILL =
      LibC.downcall("kill", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT));
  private static final MethodHandle ATTR_INIT = LibC.downcall("posix_spawnattr_init", P);
  private static final MethodHandle ATTR_DESTROY = LibC.downcall("posix_spawnattr_destroy", P);
  private static final MethodHandle ATTR_SETFLAGS =
      LibC.downcall("posix_spawnattr_setflags", P.appendArgumentLayouts(JAVA_SHORT));
  private static final MethodHandle ATTR_SETSIGDEFAULT =
      LibC.downcall("posix_spawnattr_setsigdefault", PP);
  private static final MethodHandle ATTR_SETSIGMASK =
      LibC.downcall("posix_spawnattr_setsigmask", PP);
  private static final MethodHandle SIGEMPTYSET = LibC.downcall("sigemptyset", P);
  private static final MethodHandle ACTIONS_INIT =
      LibC.downcall("posix_spawn_file_actions_init", P);
  private static final MethodHandle ACTIONS_DESTROY =
      LibC.downcall("posix_spawn_file_actions_destroy", P);
  private static final MethodHandle ADDDUP2 =
      LibC.downcall("posix_spawn_file_actions_adddup2", PI.appendArgumentLayouts(JAVA_INT));
  private static final MethodHandle ADDOPEN =
      LibC.downcall(
          "posix_spawn_file_actions_addopen",
          PI.appendArgumentLayouts(ADDRESS, JAVA_INT, JAVA_INT));
  private static final MethodHandle ADDCLOSE =
      LibC.downcall("posix_spawn_file_actions_addclose", PI);
  // The _np ones: glibc 2.29 (chdir) and 2.34 (closefrom).
  private static final MethodHandle ADDCHDIR =
      LibC.downcall("posix_spawn_file_actions_addchdir_np", PP);
  private static final MethodHandle ADDFCHDIR =
      LibC.downcall("posix_spawn_file_actions_addfchdir_np", PI);
  private static final MethodHandle ADDCLOSEFROM =
      LibC.downcall("posix_spawn_file_actions_addclosefrom_np", PI);

  /** A function that returns an error number, and -1 never. */
  @FunctionalInterface
  private interface Step {
    int invoke(MemorySegment errno) throws Throwable;
  }

  private final String program;
  private final Arena arena;

  private PosixSpawn(String program, Arena arena) {
    this.program = program;
    this.arena = arena;
  }

  /**
   * Starts it.
   *
   * @return its pid
   * @throws LinuxException naming the program when it, its directory or its terminal cannot be used
   */
  static int spawn(Spawn spawn) {
    try (Arena arena = Arena.ofConfined()) {
      return new PosixSpawn(spawn.argv().getFirst(), arena).run(spawn);
    }
  }

  /** Kills a child that was started and not waited for, so that the number is still its own. */
  static void kill(int pid) {
    LibC.call("kill", e -> (int) KILL.invokeExact(e, pid, Signal.KILL.number()));
  }

  private int run(Spawn spawn) {
    MemorySegment pid = arena.allocate(JAVA_INT);
    MemorySegment path = arena.allocateFrom(program);
    MemorySegment argv = strings(spawn.argv());
    MemorySegment envp =
        strings(
            spawn.environment().entrySet().stream()
                .map(e -> e.getKey() + "=" + e.getValue())
                .toList());
    MemorySegment attributes = attributes();
    try {
      MemorySegment actions = arena.allocate(ACTIONS_ROOM, 16);
      step(e -> (int) ACTIONS_INIT.invokeExact(e, actions));
      try {
        describe(spawn, actions);
        step(e -> (int) POSIX_SPAWN.invokeExact(e, pid, path, actions, attributes, argv, envp));
      } finally {
        step(e -> (int) ACTIONS_DESTROY.invokeExact(e, actions));
      }
    } finally {
      step(e -> (int) ATTR_DESTROY.invokeExact(e, attributes));
    }
    return pid.get(JAVA_INT, 0);
  }

  private MemorySegment attributes() {
    MemorySegment attributes = arena.allocate(ATTR_ROOM, 16);
    MemorySegment all = arena.allocate(SIGSET_ROOM, 16);
    MemorySegment none = arena.allocate(SIGSET_ROOM, 16);
    short flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID;
    // sigfillset leaves out 32 and 33, which the C library then has the child ignore.
    all.fill((byte) 0xff);
    step(e -> (int) SIGEMPTYSET.invokeExact(e, none));
    step(e -> (int) ATTR_INIT.invokeExact(e, attributes));
    step(e -> (int) ATTR_SETSIGDEFAULT.invokeExact(e, attributes, all));
    step(e -> (int) ATTR_SETSIGMASK.invokeExact(e, attributes, none));
    step(e -> (int) ATTR_SETFLAGS.invokeExact(e, attributes, flags));
    return attributes;
  }

  /**
   * The descriptor table, built in an order in which nothing is overwritten before it was used: the
   * directory, then sources out of the way of the wanted numbers, then the wanted numbers, then
   * everything else closed. The child has its own table, so the numbers above the wanted ones are
   * free for it to use.
   */
  private void describe(Spawn spawn, MemorySegment actions) {
    switch (spawn.directory()) {
      case Spawn.Directory.Open(var descriptor) -> {
        int fd = descriptor.number();
        step(e -> (int) ADDFCHDIR.invokeExact(e, actions, fd));
      }
      case Spawn.Directory.Named(var name) -> {
        MemorySegment directory = arena.allocateFrom(name.toString());
        step(e -> (int) ADDCHDIR.invokeExact(e, actions, directory));
      }
    }
    NavigableSet<Integer> wanted = spawn.numbers();
    int unused = wanted.isEmpty() ? 0 : wanted.last() + 1;
    sources(spawn, unused, actions).forEach((number, source) -> dup(actions, source, number));
    spawn.terminal().ifPresent(terminal -> open(terminal, actions));
    for (int i = 0; i < unused; i++) {
      if (!wanted.contains(i)) {
        int gap = i;
        step(e -> (int) ADDCLOSE.invokeExact(e, actions, gap));
      }
    }
    step(e -> (int) ADDCLOSEFROM.invokeExact(e, actions, unused));
  }

  /** Wanted number to the number its source has once those below {@code unused} were moved. */
  private Map<Integer, Integer> sources(Spawn spawn, int unused, MemorySegment actions) {
    Map<Integer, Integer> sources = new HashMap<>();
    spawn.descriptors().forEach((number, fd) -> sources.put(number, fd.number()));
    Set<Integer> taken = new HashSet<>(sources.values());
    int free = unused;
    for (Map.Entry<Integer, Integer> entry : sources.entrySet()) {
      if (entry.getValue() < unused) {
        while (taken.contains(free)) {
          free++;
        }
        taken.add(free);
        dup(actions, entry.getValue(), free);
        entry.setValue(free);
      }
    }
    return sources;
  }

  /** The first open makes it the controlling terminal, as the session has none yet. */
  private void open(Spawn.ControllingTerminal terminal, MemorySegment actions) {
    if (terminal.numbers().isEmpty()) {
      return;
    }
    MemorySegment slave = arena.allocateFrom(terminal.slave().toString());
    int first = Collections.min(terminal.numbers());
    step(e -> (int) ADDOPEN.invokeExact(e, actions, first, slave, O_RDWR, 0));
    for (int number : terminal.numbers()) {
      if (number != first) {
        dup(actions, first, number);
      }
    }
  }

  private void dup(MemorySegment actions, int from, int to) {
    step(e -> (int) ADDDUP2.invokeExact(e, actions, from, to));
  }

  private MemorySegment strings(List<String> values) {
    MemorySegment array = arena.allocate(ADDRESS, values.size() + 1L);
    for (int i = 0; i < values.size(); i++) {
      array.setAtIndex(ADDRESS, i, arena.allocateFrom(values.get(i)));
    }
    array.setAtIndex(ADDRESS, values.size(), MemorySegment.NULL);
    return array;
  }

  private void step(Step step) {
    String what = "posix_spawn(" + program + ")";
    int code = (int) LibC.call(what, step::invoke);
    if (code != 0) {
      throw new LinuxException(what, code);
    }
  }
}
