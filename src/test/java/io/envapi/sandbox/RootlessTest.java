package io.envapi.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import io.envapi.linux.Child;
import io.envapi.linux.Credentials;
import io.envapi.linux.ExitStatus;
import io.envapi.linux.FileDescriptor;
import io.envapi.linux.Pipe;
import io.envapi.linux.Spawn;
import io.envapi.linux.Spawner;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** The service as an unprivileged user: a JVM of its own that this one starts. */
class RootlessTest {

  private static final int USER = 61_999;
  private static final List<String> NEEDED =
      List.of(
          "slf4j-api",
          "logback",
          "jackson-annotations",
          "config",
          "assertj",
          "awaitility",
          "hamcrest",
          "junit-jupiter-api",
          "junit-platform-commons",
          "opentest4j",
          "apiguardian");

  /** What the other JVM does: the same tests' helpers, as another user. */
  public static void main(String[] arguments) {
    SandboxSettings settings =
        Tiers.settings(Path.of(arguments[0]), SandboxTier.valueOf(arguments[1]));
    switch (SandboxProbe.probe(settings)) {
      case SandboxProbe.Outcome.Refused(var message) -> say("refused: " + message);
      case SandboxProbe.Outcome.Chosen(var sandbox, var _) -> {
        say("layers: " + sandbox.layers());
        try (TestEnvironment environment = new TestEnvironment(sandbox, settings)) {
          say(environment.run(arguments[2]).output());
          say(environment.run(TestShell.Options.DEFAULT.onTerminal(), "tty <&1").output());
          try (TestShell shell = environment.shell()) {
            shell.send("(setsid sleep 1000 &) ; sleep 1000 & echo up").until("up");
            say("members: " + shell.started().members().members().size());
          }
        }
      }
    }
    System.exit(0);
  }

  private static void say(String line) {
    new java.io.PrintStream(new java.io.FileOutputStream(java.io.FileDescriptor.out), true)
        .println(line);
  }

  private static String run(SandboxTier tier, String script) throws Exception {
    Assumptions.assumeTrue(Credentials.current().isRoot(), "not root, so nobody else to be");
    Path root = Tiers.directory("rootless");
    Files.setAttribute(root, "unix:uid", USER);
    Files.setAttribute(root, "unix:gid", USER);
    try (Pipe output = Pipe.open();
        Pipe input = Pipe.open()) {
      List<String> argv = new ArrayList<>(Host.become(USER));
      argv.addAll(
          List.of(
              System.getProperty("java.home") + "/bin/java",
              "--enable-native-access=ALL-UNNAMED",
              "-Xmx128m",
              "-cp",
              classPath(root.resolve("classes")),
              RootlessTest.class.getName(),
              root.toString(),
              tier.name(),
              script));
      FileDescriptor out = output.write();
      Child child =
          Spawner.plain()
              .spawn(
                  Spawn.of(argv)
                      .environment(Map.of("PATH", Tools.PATH, "LANG", "C.UTF-8"))
                      .descriptors(Map.of(0, input.read(), 1, out, 2, out)));
      out.close();
      StringBuilder said = new StringBuilder();
      byte[] chunk = new byte[8192];
      int read;
      while ((read = output.read().read(chunk, 0, chunk.length)) > 0) {
        said.append(new String(chunk, 0, read, StandardCharsets.UTF_8));
      }
      ExitStatus status = child.exit().join();
      assertThat(status).as(said.toString()).isEqualTo(new ExitStatus.Exited(0));
      return said.toString();
    } finally {
      Tiers.delete(root);
    }
  }

  /** Copies of what the other JVM needs: it may not read another user's home directory. */
  private static String classPath(Path target) throws IOException {
    Files.createDirectories(target);
    List<String> entries = new ArrayList<>();
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
      Path path = Path.of(entry);
      Path copy = target.resolve(entries.size() + "-" + path.getFileName());
      if (Files.isDirectory(path)) {
        copyClasses(path, copy);
        entries.add(copy.toString());
      } else if (NEEDED.stream().anyMatch(path.getFileName().toString()::startsWith)) {
        Files.copy(path, copy);
        entries.add(copy.toString());
      }
    }
    return String.join(File.pathSeparator, entries);
  }

  private static void copyClasses(Path from, Path to) throws IOException {
    try (Stream<Path> tree = Files.walk(from)) {
      for (Path path : tree.filter(Files::isRegularFile).toList()) {
        Path copy = to.resolve(from.relativize(path).toString());
        Files.createDirectories(copy.getParent());
        Files.copy(path, copy);
      }
    }
  }

  @Test
  void namespacesWithoutPrivilege() throws Exception {
    Tiers.assumeInstalled("bwrap", "unshare", "nsenter");
    String script =
        """
        id -u; whoami; echo *; touch f && ls; [ -e /root ] && echo shows
        grep -E '^(CapEff|NoNewPrivs|Seccomp):' /proc/self/status | tr -d '\\t'
        unshare -Ur true 2>/dev/null && echo nested
        kill -9 -1 2>/dev/null; echo survived
        """;
    String said = run(SandboxTier.NAMESPACE, script);
    Assumptions.assumeFalse(said.contains("refused: "), said);
    assertThat(said)
        .contains("seccomp=true, userns=true, network=true")
        .contains("61999\nuser\n*\nf\nCapEff:0000000000000000\nNoNewPrivs:1\nSeccomp:2\nsurvived\n")
        .contains("/dev/pts/0")
        .contains("members: ");
  }

  @Test
  void theDirectoryTierWithoutPrivilege() throws Exception {
    assertThat(run(SandboxTier.DIRECTORY, "id -u; touch f && ls"))
        .contains("61999\nf\n")
        .contains("/dev/pts/");
  }

  @Test
  void theUserTierNeedsRoot() throws Exception {
    assertThat(run(SandboxTier.USER, "true"))
        .contains("refused: ENVAPI_SANDBOX_TIER is user, but user: the service is not root");
  }
}
