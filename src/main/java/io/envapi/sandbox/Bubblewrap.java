package io.envapi.sandbox;

import io.envapi.id.EnvironmentId;
import io.envapi.linux.FileDescriptor;
import io.envapi.linux.Memfd;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A sandbox as bubblewrap is told to build it (bwrap(1)).
 *
 * <p>The options go through a descriptor: arguments are there for everybody to read. No destination
 * lies below the workspace, in which a caller may have left links: bubblewrap before 0.12 follows
 * them (CVE-2026-87766).
 */
final class Bubblewrap implements AutoCloseable {

  /** Where the workspace is inside. */
  static final String WORKSPACE = "/workspace";

  /** The descriptors of bubblewrap's that are written to. */
  static final int READY = 1;

  static final int ERRORS = 2;
  static final int INFO = 5;

  private static final int OPTIONS = 3;
  private static final int FILTER = 4;
  private static final int FIRST_FILE = 6;

  /** Directories of the sandbox itself; bubblewrap would make them for their owner only. */
  private static final List<String> PLACES =
      List.of("/etc", "/etc/apt", "/etc/maven", "/run", "/var", "/var/lib", "/var/tmp");

  private static final long TMP_BYTES = 512L << 20;
  private static final long SHM_BYTES = 128L << 20;

  /**
   * What process 1 does: say that the sandbox is up, then reap orphans until nobody holds the other
   * end of its standard input any more, as when the service has died. It never forks, so a caller
   * who uses up all processes cannot end it.
   */
  private static final String HOLD =
      "trap '' HUP INT QUIT USR1 USR2 PIPE ALRM TERM; echo; exec >/dev/null 2>&1;"
          + " while read -rN1; do :; done";

  private final List<Memfd> contents = new ArrayList<>();
  private final Map<Integer, FileDescriptor> descriptors = new LinkedHashMap<>();
  private final Path shell;

  /**
   * @param workspace the path bubblewrap finds the workspace at
   * @param uid the user, inside as outside
   */
  Bubblewrap(
      EnvironmentId environment,
      Path workspace,
      int uid,
      boolean network,
      byte[] filter,
      SandboxSettings settings) {
    this.shell = settings.shellBinary();
    String host = "env-" + environment.hex();
    List<String> options = new ArrayList<>(namespaces(uid, network, host));
    PLACES.forEach(place -> options.addAll(List.of("--perms", "0755", "--dir", place)));
    options.addAll(SandboxRoot.options(settings.extraReadOnlyPaths(), network));
    options.addAll(files(uid, host));
    options.addAll(fresh());
    options.addAll(List.of("--bind", workspace.toString(), WORKSPACE));
    options.addAll(List.of("--chdir", WORKSPACE, "--remount-ro", "/"));
    put(OPTIONS, String.join("\0", options) + "\0");
    put(FILTER, filter);
  }

  private static List<String> namespaces(int uid, boolean network, String host) {
    List<String> options = new ArrayList<>();
    options.addAll(List.of("--unshare-user", "--disable-userns", "--unshare-pid"));
    options.addAll(List.of("--unshare-ipc", "--unshare-uts", "--unshare-cgroup"));
    if (!network) {
      options.add("--unshare-net");
    }
    String user = Integer.toString(uid);
    options.addAll(List.of("--uid", user, "--gid", user, "--hostname", host));
    // As process 1 the holder outlives "kill -9 -1"; the kernel takes all others along when it
    // ends.
    options.addAll(List.of("--as-pid-1", "--die-with-parent", "--cap-drop", "ALL", "--clearenv"));
    return options;
  }

  private List<String> files(int uid, String host) {
    Map<String, String> files = new LinkedHashMap<>();
    files.put(
        "/etc/passwd",
        "root:x:0:0:root:/root:/usr/sbin/nologin\n"
            + ("user:x:" + uid + ":" + uid + ":user:" + WORKSPACE + ":" + shell + "\n")
            + "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n");
    files.put("/etc/group", "root:x:0:\nuser:x:" + uid + ":\nnogroup:x:65534:\n");
    files.put("/etc/hosts", "127.0.0.1 localhost " + host + "\n::1 localhost\n");
    files.put("/etc/hostname", host + "\n");
    List<String> options = new ArrayList<>();
    int descriptor = FIRST_FILE;
    for (Map.Entry<String, String> file : files.entrySet()) {
      put(descriptor, file.getValue());
      options.addAll(
          List.of("--perms", "0444", "--file", Integer.toString(descriptor), file.getKey()));
      descriptor++;
    }
    return options;
  }

  private static List<String> fresh() {
    List<String> options = new ArrayList<>();
    options.addAll(List.of("--proc", "/proc", "--dev", "/dev"));
    options.addAll(
        List.of("--perms", "1777", "--size", Long.toString(SHM_BYTES), "--tmpfs", "/dev/shm"));
    options.addAll(List.of("--remount-ro", "/dev"));
    options.addAll(
        List.of("--perms", "1777", "--size", Long.toString(TMP_BYTES), "--tmpfs", "/tmp"));
    return options;
  }

  /** The program and its arguments. */
  List<String> command() {
    return List.of(
        Tools.require("bwrap"),
        "--args",
        Integer.toString(OPTIONS),
        "--seccomp",
        Integer.toString(FILTER),
        "--info-fd",
        Integer.toString(INFO),
        "--",
        shell.toString(),
        "--noprofile",
        "--norc",
        "-c",
        HOLD);
  }

  /** The descriptors it reads from. */
  Map<Integer, FileDescriptor> descriptors() {
    return descriptors;
  }

  private void put(int descriptor, String content) {
    put(descriptor, content.getBytes(StandardCharsets.UTF_8));
  }

  private void put(int descriptor, byte[] content) {
    Memfd memory = Memfd.create("sandbox");
    contents.add(memory);
    memory.replace(content);
    descriptors.put(descriptor, memory.openReadOnly());
  }

  @Override
  public void close() {
    descriptors.values().forEach(FileDescriptor::close);
    contents.forEach(Memfd::close);
  }
}
