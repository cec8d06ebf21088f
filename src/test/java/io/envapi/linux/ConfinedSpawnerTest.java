package io.envapi.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

class ConfinedSpawnerTest {

  private static final int SYS_MKDIR = 83;
  private static final int SYS_MKDIRAT = 258;

  /** Making a directory answers EPERM. */
  private static byte[] filter() {
    ByteBuffer code = ByteBuffer.allocate(5 * 8).order(ByteOrder.nativeOrder());
    code.putShort((short) 0x20).put((byte) 0).put((byte) 0).putInt(0); // load the number
    code.putShort((short) 0x15).put((byte) 1).put((byte) 0).putInt(SYS_MKDIR);
    code.putShort((short) 0x15).put((byte) 0).put((byte) 1).putInt(SYS_MKDIRAT);
    code.putShort((short) 0x06).put((byte) 0).put((byte) 0).putInt(0x0005_0000 | Errno.EPERM);
    code.putShort((short) 0x06).put((byte) 0).put((byte) 0).putInt(0x7fff_0000); // allow
    return code.array();
  }

  @Test
  void itsChildrenAreFilteredAndNothingElseIs() throws Exception {
    assumeTrue(System.getProperty("os.arch").equals("amd64"), "the filter is for x86-64");
    Path directory = Files.createTempDirectory("confined");
    Spawner confined = Spawner.confined(filter());
    String script =
        "mkdir "
            + directory
            + "/$$ && echo made; while read -r k v; do case $k in"
            + " NoNewPrivs:|Seccomp:) echo $k$v;; esac; done < /proc/self/status";
    assertThat(Run.run(confined, Run.bash(script)).output())
        .contains("Operation not permitted")
        .doesNotContain("made")
        .contains("NoNewPrivs:1", "Seccomp:2");
    assertThat(Run.run(Run.SPAWNER, Run.bash(script)).output())
        .contains("made", "NoNewPrivs:0", "Seccomp:0");
    Files.createDirectory(directory.resolve("by-this-thread"));

    // Virtual threads that it wakes must not make it start their carriers.
    List<Callable<ExitStatus>> tasks = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      tasks.add(() -> Run.exit(confined.spawn(Spawn.of(List.of("/bin/true")))));
    }
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (Future<ExitStatus> each : threads.invokeAll(tasks)) {
        assertThat(each.get()).isEqualTo(new ExitStatus.Exited(0));
      }
    }
    assertThat(confinedThreads()).containsExactly("spawner");
  }

  @Test
  void aFilterTheKernelRefusesIsAnError() {
    assertThatThrownBy(() -> Spawner.confined(new byte[8]))
        .isInstanceOf(LinuxException.class)
        .hasMessageContaining("seccomp");
    assertThatThrownBy(() -> Spawner.confined(new byte[7]))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private static List<String> confinedThreads() throws Exception {
    List<String> names = new ArrayList<>();
    try (var tasks = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
      for (Path task : tasks) {
        String status;
        try {
          status = Files.readString(task.resolve("status"));
        } catch (NoSuchFileException e) {
          continue;
        }
        if (status.contains("Seccomp:\t2")) {
          names.add(status.lines().findFirst().orElseThrow().replace("Name:\t", ""));
        }
      }
    }
    return names;
  }
}
