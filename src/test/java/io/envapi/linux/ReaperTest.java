package io.envapi.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.envapi.linux.ExitStatus.Exited;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

class ReaperTest {

  @Test
  void twoThousandExitCodesAreAllRight() throws Exception {
    Run.run("true");
    int before = Run.openDescriptors();
    Random random = new Random(5);
    List<Integer> codes = random.ints(2_000, 0, 256).boxed().toList();
    List<Callable<ExitStatus>> tasks = new ArrayList<>();
    for (int code : codes) {
      var spawn = Spawn.of(List.of("/bin/sh", "-c", "exit " + code));
      tasks.add(() -> Run.exit(Run.SPAWNER.spawn(spawn)));
    }
    List<ExitStatus> found = new ArrayList<>();
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (Future<ExitStatus> each : threads.invokeAll(tasks)) {
        found.add(each.get());
      }
    }
    assertThat(found).isEqualTo(codes.stream().map(Exited::new).toList());
    assertThat(Run.openDescriptors()).isEqualTo(before);
    assertThat(children()).isEmpty();
  }

  /** The orphans end after their parents, so this process adopted them alive. */
  @Test
  void adoptedOrphansLeaveNoZombie() {
    try (Pipe hold = Pipe.open();
        Pipe out = Pipe.open()) {
      Child child =
          Run.SPAWNER.spawn(
              Run.bash(
                      "for i in {1..100}; do (setsid bash -c 'read x <&7; exit 3' &); done; echo up")
                  .descriptors(
                      Map.of(7, hold.read(), 0, hold.read(), 1, out.write(), 2, out.write())));
      assertThat(Run.exit(child)).isEqualTo(new Exited(0));
      hold.read().close();
      await().atMost(Duration.ofSeconds(10)).until(() -> children().size() == 100);
      hold.write().close();
      await().atMost(Duration.ofSeconds(10)).until(() -> children().isEmpty());
    }
  }

  @Test
  void waitsWithoutWorkingWhenThereIsNoChild() throws Exception {
    Run.run("true");
    Thread reaper =
        Thread.getAllStackTraces().keySet().stream()
            .filter(t -> t.getName().equals("reaper"))
            .findAny()
            .orElseThrow();
    await().until(() -> children().isEmpty());
    await().until(() -> reaper.getState() == Thread.State.WAITING);
    assertThat(Run.run("exit 4").status()).isEqualTo(new Exited(4));
  }

  /** Children of every thread of this process, zombies included. */
  private static List<String> children() throws Exception {
    List<String> children = new ArrayList<>();
    try (var tasks = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
      for (Path task : tasks) {
        Path file = task.resolve("children");
        if (Files.exists(file)) {
          String text = Files.readString(file).strip();
          if (!text.isEmpty()) {
            children.addAll(List.of(text.split(" ")));
          }
        }
      }
    }
    return children;
  }
}
