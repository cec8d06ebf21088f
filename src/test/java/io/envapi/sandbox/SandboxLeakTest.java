package io.envapi.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import io.envapi.process.ProcFs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Environments that come and go leave the service and the host as they were. */
class SandboxLeakTest {

  private static final int CYCLES = 40;

  private record Held(long descriptors, long children, long mounts) {
    static Held now() throws IOException {
      int self = Math.toIntExact(ProcessHandle.current().pid());
      return new Held(
          count(Path.of("/proc/self/fd")),
          ProcFs.children(self).size(),
          Files.readAllLines(Path.of("/proc/self/mountinfo")).size());
    }

    private static long count(Path directory) throws IOException {
      try (Stream<Path> entries = Files.list(directory)) {
        return entries.count();
      }
    }
  }

  @ParameterizedTest
  @MethodSource("io.envapi.sandbox.Tiers#all")
  void manyEnvironmentsOneAfterAnother(SandboxTier tier) throws IOException {
    Tiers.sandbox(tier);
    cycle(tier);
    Held before = Held.now();
    for (int i = 0; i < CYCLES; i++) {
      cycle(tier);
    }
    Awaitility.await().untilAsserted(() -> assertThat(Held.now()).isEqualTo(before));
  }

  private static void cycle(SandboxTier tier) {
    try (TestEnvironment environment = Tiers.environment(tier)) {
      assertThat(environment.output("echo x >f; (setsid sleep 1000 &) ; cat f")).isEqualTo("x\n");
    }
  }

  @ParameterizedTest
  @MethodSource("io.envapi.sandbox.Tiers#all")
  void manyShellsAtOnce(SandboxTier tier) throws Exception {
    Tiers.sandbox(tier);
    try (TestEnvironment environment = Tiers.environment(tier);
        var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Callable<String>> tasks =
          IntStream.range(0, 16)
              .<Callable<String>>mapToObj(i -> () -> environment.output("echo " + i))
              .toList();
      int expected = 0;
      for (Future<String> answer : threads.invokeAll(tasks)) {
        assertThat(answer.get()).isEqualTo(expected + "\n");
        expected++;
      }
    }
  }

  @ParameterizedTest
  @MethodSource("io.envapi.sandbox.Tiers#all")
  void removalWhileShellsStart(SandboxTier tier) throws Exception {
    Tiers.sandbox(tier);
    TestEnvironment environment = Tiers.environment(tier);
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> starts =
          IntStream.range(0, 6)
              .<Future<?>>mapToObj(
                  i ->
                      threads.submit(
                          () -> {
                            try (TestShell shell = environment.shell()) {
                              shell.result();
                            }
                          }))
              .toList();
      environment.close();
      for (Future<?> start : starts) {
        start.get();
      }
    }
    environment.close();
    assertThat(environment.workspace().root()).doesNotExist();
    assertThat(Tiers.host(tier).cgroups().existing(environment.id()).exists()).isFalse();
  }
}
