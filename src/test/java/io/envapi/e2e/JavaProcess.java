package io.envapi.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A main class of this project in a JVM of its own, started as the scripts start it. */
final class JavaProcess implements AutoCloseable {

  private final Process process;
  private final Path log;

  private JavaProcess(Process process, Path log) {
    this.process = process;
    this.log = log;
  }

  /**
   * @param variables all the variables it has, but for PATH
   * @param log takes what it prints, appended
   */
  static JavaProcess start(String mainClass, Map<String, String> variables, Path log, String... jvm)
      throws IOException {
    List<String> argv = new ArrayList<>();
    argv.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    argv.add("@" + Path.of("conf", "jvm.options").toAbsolutePath());
    argv.addAll(List.of(jvm));
    argv.addAll(List.of("-cp", System.getProperty("java.class.path"), mainClass));
    var builder = new ProcessBuilder(argv);
    builder.environment().clear();
    builder.environment().put("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
    builder.environment().putAll(variables);
    builder.redirectErrorStream(true);
    builder.redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
    return new JavaProcess(builder.start(), log);
  }

  long pid() {
    return process.pid();
  }

  boolean isAlive() {
    return process.isAlive();
  }

  /** SIGTERM. */
  void terminate() {
    process.destroy();
  }

  /** SIGKILL; returns when it is gone. */
  void kill() {
    process.destroyForcibly().onExit().join();
  }

  /** Waits for its end; its exit status, 128+n after signal n. */
  int exit(Duration within) throws InterruptedException, IOException {
    assertThat(process.waitFor(within.toMillis(), TimeUnit.MILLISECONDS))
        .as("process %d ends within %s; its log: %s", pid(), within, log())
        .isTrue();
    return process.exitValue();
  }

  String log() throws IOException {
    return Files.readString(log);
  }

  int descriptors() throws IOException {
    return count(Path.of("/proc", Long.toString(pid()), "fd"));
  }

  int threads() throws IOException {
    return count(Path.of("/proc", Long.toString(pid()), "task"));
  }

  /** Its children, the unreaped dead among them. */
  List<ProcFsView> children() throws IOException {
    return ProcFsView.all().stream().filter(p -> p.parent() == pid()).toList();
  }

  private static int count(Path directory) throws IOException {
    try (Stream<Path> entries = Files.list(directory)) {
      return (int) entries.count();
    }
  }

  @Override
  public void close() {
    kill();
  }
}
