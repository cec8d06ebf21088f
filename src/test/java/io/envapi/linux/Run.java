package io.envapi.linux;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Real processes for tests; ProcessBuilder's would be reaped under it. */
public final class Run {

  public static final Spawner SPAWNER = Spawner.plain();

  public record Outcome(String output, ExitStatus status) {}

  private Run() {}

  /** A shell that does nothing but {@code script}, without descriptors. */
  public static Spawn bash(String script) {
    return Spawn.of(List.of("/bin/bash", "--noprofile", "--norc", "-c", script))
        .environment(Map.of("PATH", "/usr/bin:/bin"));
  }

  public static Outcome run(String script) {
    return run(SPAWNER, bash(script));
  }

  /** Runs to the end, standard input empty, both outputs together. */
  public static Outcome run(Spawner spawner, Spawn spawn) {
    try (Pipe in = Pipe.open();
        Pipe out = Pipe.open()) {
      Child child =
          spawner.spawn(spawn.descriptors(Map.of(0, in.read(), 1, out.write(), 2, out.write())));
      in.write().close();
      out.write().close();
      String output = drain(out.read());
      return new Outcome(output, exit(child));
    }
  }

  public static ExitStatus exit(Child child) {
    return child.exit().orTimeout(30, TimeUnit.SECONDS).join();
  }

  /** All there is to its end; the terminal's kind of end counts as one. */
  public static String drain(FileDescriptor fd) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    byte[] buffer = new byte[65536];
    try {
      for (int n = fd.read(buffer, 0, buffer.length);
          n > 0;
          n = fd.read(buffer, 0, buffer.length)) {
        all.write(buffer, 0, n);
      }
    } catch (LinuxException e) {
      if (!e.is(Errno.EIO)) {
        throw e;
      }
    }
    return all.toString(StandardCharsets.UTF_8);
  }

  /** The first line, without its end. */
  public static String line(FileDescriptor fd) {
    StringBuilder line = new StringBuilder();
    byte[] one = new byte[1];
    while (fd.read(one, 0, 1) == 1 && one[0] != '\n') {
      line.append((char) one[0]);
    }
    return line.toString();
  }

  public static int openDescriptors() {
    String[] names = new java.io.File("/proc/self/fd").list();
    return names == null ? 0 : names.length;
  }
}
