package io.envapi.sandbox;

import io.envapi.linux.Child;
import io.envapi.linux.FileDescriptor;
import io.envapi.linux.Pipe;
import io.envapi.linux.Signal;
import io.envapi.linux.Spawn;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * A mount namespace in which every user can get to the data root, though on the host it lies below
 * a directory that is closed to them, such as a home. In there that directory holds nothing else.
 *
 * <p>It is kept by a process that ends with the service.
 */
final class ReachableRoot {

  static final List<String> TOOLS = List.of("unshare", "nsenter", "mount", "mkdir");

  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final long PAUSE_NANOS = Duration.ofMillis(1).toNanos();

  /** $1 is the closed directory, $2 what shall be reachable below it. */
  private static final String KEEP =
      """
      umask 022
      cd "$2" && "$3" -t tmpfs -o mode=755 tmpfs "$1" && "$4" -p "$2" \
        && "$3" -c --bind . "$2" && cd / && echo && exec >/dev/null 2>&1 || exit 1
      while read -r _; do :; done
      """;

  private final Child keeper;

  private final FileDescriptor lifeline;

  private ReachableRoot(Child keeper, FileDescriptor lifeline) {
    this.keeper = keeper;
    this.lifeline = lifeline;
  }

  /** The topmost directory above the data root that is closed to other users. */
  static Optional<Path> closedAbove(Path root) {
    return Stream.iterate(root.getParent(), path -> path != null, Path::getParent)
        .filter(ReachableRoot::isClosed)
        .reduce((_, higher) -> higher);
  }

  private static boolean isClosed(Path directory) {
    try {
      return !Files.getPosixFilePermissions(directory).contains(PosixFilePermission.OTHERS_EXECUTE);
    } catch (IOException e) {
      return false;
    }
  }

  /** Makes it; the data root must exist. */
  static ReachableRoot below(Path closed, Host host) throws SandboxException {
    List<String> argv =
        List.of(
            Tools.require("unshare"),
            "--mount",
            "--propagation",
            "private",
            "--",
            "/bin/sh",
            "-c",
            KEEP,
            "sh",
            closed.toString(),
            host.settings().root().resolve("environments").toString(),
            Tools.require("mount"),
            Tools.require("mkdir"));
    Pipe lifeline = Pipe.open();
    try (Pipe ready = Pipe.open()) {
      Spawn spawn =
          Spawn.of(argv)
              .environment(Map.of("PATH", Tools.PATH))
              .descriptors(Map.of(0, lifeline.read(), 1, ready.write(), 2, ready.write()));
      Child keeper = host.spawner().spawn(spawn);
      ready.write().close();
      lifeline.read().close();
      try {
        await(keeper, ready.read());
        return new ReachableRoot(keeper, lifeline.write());
      } catch (SandboxException e) {
        keeper.signal(Signal.KILL);
        lifeline.write().close();
        throw e;
      }
    }
  }

  private static void await(Child keeper, FileDescriptor ready) throws SandboxException {
    ready.setNonBlocking();
    byte[] word = new byte[256];
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (true) {
      int read = ready.read(word, 0, word.length);
      if (read > 0 && word[0] == '\n') {
        return;
      }
      if (read >= 0 || !keeper.isAlive() || System.nanoTime() > deadline) {
        throw new SandboxException("the data root cannot be shown to other users");
      }
      LockSupport.parkNanos(PAUSE_NANOS);
    }
  }

  /** Whether it is still there. */
  boolean isAlive() {
    return keeper.isAlive();
  }

  void close() {
    keeper.signal(Signal.KILL);
    lifeline.close();
  }

  /** What puts a program into it. */
  List<String> entering() {
    return List.of(Tools.require("nsenter"), "-t", Integer.toString(keeper.pid()), "--mount", "--");
  }
}
