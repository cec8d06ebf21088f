package io.envapi.sandbox;

import io.envapi.id.EnvironmentId;
import io.envapi.linux.Child;
import io.envapi.linux.FileDescriptor;
import io.envapi.linux.Pipe;
import io.envapi.linux.Signal;
import io.envapi.linux.Spawn;
import io.envapi.process.ProcessIdentity;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Starts holders. */
final class HolderStarter {

  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final long PAUSE_NANOS = Duration.ofNanos(200_000).toNanos();
  private static final Pattern CHILD_PID = Pattern.compile("\"child-pid\": *([0-9]+)");
  private static final int LONGEST_ERROR = 500;

  /**
   * As root, in a mount namespace of its own: shows the workspace ($2) at a place every user can
   * reach, whatever lies above it on the host.
   */
  private static final String STAGE =
      """
      at=$1; ws=$2; mount=$3; mkdir=$4; shift 4
      "$mount" -t tmpfs -o mode=755 tmpfs "$at" && "$mkdir" "$at/w" \
        && "$mount" --bind "$ws" "$at/w" && exec "$@"
      """;

  private static final List<String> STAGES = List.of("/srv", "/mnt", "/media", "/home");

  private final Host host;
  private final byte[] filter;
  private final boolean staged;

  /**
   * @param staged whether workspaces have to be shown at another place first, because environments'
   *     users cannot reach them
   */
  HolderStarter(Host host, byte[] filter, boolean staged) {
    this.host = host;
    this.filter = filter.clone();
    this.staged = staged;
  }

  /** Starts one and waits until its namespaces are complete. */
  Holder start(EnvironmentId environment, Workspace workspace, boolean network)
      throws SandboxException {
    Optional<Path> stage = staged ? Optional.of(stage()) : Optional.empty();
    Path source = stage.map(at -> at.resolve("w")).orElse(workspace.files());
    Optional<Cgroup> group = host.cgroups().holder(environment);
    Pipe lifeline = Pipe.open();
    try (Pipe ready = Pipe.open();
        Pipe errors = Pipe.open();
        Pipe info = Pipe.open();
        Bubblewrap bubblewrap =
            new Bubblewrap(
                environment, source, workspace.uid(), network, filter, host.settings())) {
      Map<Integer, FileDescriptor> descriptors = new TreeMap<>(bubblewrap.descriptors());
      descriptors.put(0, lifeline.read());
      descriptors.put(Bubblewrap.READY, ready.write());
      descriptors.put(Bubblewrap.ERRORS, errors.write());
      descriptors.put(Bubblewrap.INFO, info.write());
      List<String> argv =
          new ArrayList<>(stage.map(at -> staging(at, workspace)).orElse(List.of()));
      argv.addAll(becoming(workspace.uid()));
      argv.addAll(bubblewrap.command());
      Spawn spawn = Spawn.of(argv).descriptors(descriptors);
      Child monitor =
          group
              .map(made -> host.cgroups().spawn(host.spawner(), spawn, made))
              .orElseGet(() -> host.spawner().spawn(spawn));
      List.of(ready, errors, info).forEach(pipe -> pipe.write().close());
      try {
        int pid = childPid(monitor, info.read());
        if (!group.map(made -> made.contains(pid) || made.add(pid)).orElse(true)) {
          throw new SandboxException("it could not be put into its control group");
        }
        ProcessIdentity init =
            ProcessIdentity.of(pid).orElseThrow(() -> new SandboxException("it ended at once"));
        awaitReady(monitor, ready.read());
        return new Holder(monitor, init, lifeline.write(), group, network);
      } catch (SandboxException e) {
        monitor.signal(Signal.KILL);
        monitor.exit().join();
        throw new SandboxException(e.reason() + ": " + text(errors.read()));
      }
    } catch (SandboxException | RuntimeException e) {
      lifeline.write().close();
      group.ifPresent(
          made -> {
            new CgroupMembership(made).killAll();
            made.remove();
          });
      throw e;
    } finally {
      lifeline.read().close();
    }
  }

  private List<String> becoming(int uid) {
    return host.credentials().isRoot()
        ? Host.become(uid)
        // One user namespace around bubblewrap's, in which the service's user may do everything:
        // joining a sandbox later starts from there.
        : List.of(Tools.require("unshare"), "--user", "--map-root-user", "--");
  }

  private static List<String> staging(Path at, Workspace workspace) {
    return List.of(
        Tools.require("unshare"),
        "--mount",
        "--propagation",
        "private",
        "--",
        "/bin/sh",
        "-c",
        STAGE,
        "sh",
        at.toString(),
        workspace.files().toString(),
        Tools.require("mount"),
        Tools.require("mkdir"));
  }

  private Path stage() throws SandboxException {
    return STAGES.stream()
        .map(Path::of)
        .filter(at -> Files.isDirectory(at))
        .filter(at -> !host.settings().root().startsWith(at))
        .findFirst()
        .orElseThrow(() -> new SandboxException("no directory to show the workspace at"));
  }

  private static int childPid(Child monitor, FileDescriptor info) throws SandboxException {
    StringBuilder seen = new StringBuilder();
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (true) {
      seen.append(more(monitor, info, deadline));
      Matcher matcher = CHILD_PID.matcher(seen);
      if (matcher.find() && matcher.end() < seen.length()) {
        return Integer.parseInt(matcher.group(1));
      }
    }
  }

  private static void awaitReady(Child monitor, FileDescriptor ready) throws SandboxException {
    more(monitor, ready, System.nanoTime() + PATIENCE.toNanos());
  }

  /** What can be read next; waits for it without blocking the thread in the kernel. */
  private static String more(Child monitor, FileDescriptor from, long deadline)
      throws SandboxException {
    from.setNonBlocking();
    byte[] chunk = new byte[1024];
    while (true) {
      int read = from.read(chunk, 0, chunk.length);
      if (read > 0) {
        return new String(chunk, 0, read, StandardCharsets.UTF_8);
      }
      if (read == 0) {
        throw new SandboxException("bubblewrap failed");
      }
      if (System.nanoTime() > deadline) {
        throw new SandboxException("bubblewrap took too long");
      }
      if (!monitor.isAlive()) {
        throw new SandboxException("bubblewrap ended with " + monitor.exit().join());
      }
      LockSupport.parkNanos(PAUSE_NANOS);
    }
  }

  private static String text(FileDescriptor errors) {
    errors.setNonBlocking();
    ByteArrayOutputStream text = new ByteArrayOutputStream();
    byte[] chunk = new byte[LONGEST_ERROR];
    int read;
    while (text.size() < LONGEST_ERROR && (read = errors.read(chunk, 0, chunk.length)) > 0) {
      text.write(chunk, 0, read);
    }
    return text.toString(StandardCharsets.UTF_8).strip();
  }
}
