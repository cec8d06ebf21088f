package io.envapi.linux;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.envapi.linux.ExitStatus.Exited;
import io.envapi.linux.ExitStatus.Signaled;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SpawnTest {

  /** Session, group and pid from the shell's own stat line. */
  private static final String IDS =
      "read -r line < /proc/$$/stat; set -- ${line##*) }; echo $$ $3 $4";

  @TempDir Path directory;

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 7, 126, 127, 128, 255})
  void exitCodesArrive(int code) {
    assertThat(Run.run("exit " + code).status()).isEqualTo(new Exited(code));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 9, 11, 15})
  void signalsAreNotExitCodes(int signal) {
    assertThat(Run.run("kill -" + signal + " $$").status()).isEqualTo(new Signaled(signal));
  }

  @Test
  void leadsItsOwnSessionAndGroup() {
    String[] ids = Run.run(IDS).output().strip().split(" ");
    assertThat(ids).hasSize(3).containsOnly(ids[0]);
  }

  @Test
  void hasExactlyTheVariablesGiven() {
    var spawn =
        Spawn.of(List.of("/usr/bin/env", "-0")).environment(Map.of("A", "1 2\n=", "EMPTY", ""));
    assertThat(Run.run(Run.SPAWNER, spawn).output().split("\0"))
        .containsExactlyInAnyOrder("A=1 2\n=", "EMPTY=");
    assertThat(Run.run(Run.SPAWNER, Spawn.of(List.of("/usr/bin/env"))).output()).isEmpty();
  }

  @Test
  void startsInADirectoryByNameOrByDescriptor() throws Exception {
    Path real = directory.toRealPath();
    assertThat(Run.run(Run.SPAWNER, Run.bash("pwd").in(real)).output().strip())
        .isEqualTo(real.toString());
    try (FileDescriptor open = Fcntl.open(real, Fcntl.O_RDONLY)) {
      assertThat(Run.run(Run.SPAWNER, Run.bash("pwd").in(open)).output().strip())
          .isEqualTo(real.toString());
    }
  }

  @Test
  void hasExactlyTheDescriptorsGiven() {
    try (Pipe pipe = Pipe.open()) {
      Child child =
          Run.SPAWNER.spawn(
              Spawn.of(List.of("/bin/sleep", "1000"))
                  .descriptors(Map.of(1, pipe.write(), 7, pipe.read(), 2, pipe.write())));
      // Starting, it has its libraries open for a moment.
      await().untilAsserted(() -> assertThat(descriptors(child)).containsExactly("1", "2", "7"));
      child.signal(Signal.KILL);
      assertThat(Run.exit(child)).isEqualTo(new Signaled(9));
    }
  }

  private static Set<String> descriptors(Child child) {
    return new TreeSet<>(List.of(requireNonNull(new File("/proc/" + child.pid() + "/fd").list())));
  }

  /** Every wanted number is, in this JVM, the number of another pipe's end that is wanted too. */
  @Test
  void overlappingNumbersDoNotOverwriteEachOther() {
    Pipe[] pipes = new Pipe[6];
    for (int i = 0; i < pipes.length; i++) {
      pipes[i] = Pipe.open();
    }
    Map<Integer, FileDescriptor> map = new HashMap<>();
    StringBuilder script = new StringBuilder();
    for (int i = 0; i < pipes.length; i++) {
      int number = pipes[(i + 1) % pipes.length].write().number();
      map.put(number, pipes[i].write());
      script.append("echo ").append(i).append(" >&").append(number).append("; ");
    }
    Child child = Run.SPAWNER.spawn(Run.bash(script.toString()).descriptors(map));
    for (int i = 0; i < pipes.length; i++) {
      pipes[i].write().close();
      assertThat(Run.drain(pipes[i].read())).isEqualTo(i + "\n");
      pipes[i].close();
    }
    assertThat(Run.exit(child)).isEqualTo(new Exited(0));
  }

  @Test
  void signalsAreAsTheyAreByDefault() {
    var spawn = Spawn.of(List.of("/bin/cat", "/proc/self/status"));
    String status = Run.run(Run.SPAWNER, spawn).output();
    assertThat(status).containsPattern("SigBlk:\\s*0{16}").containsPattern("SigIgn:\\s*0{16}");
  }

  @Test
  void aProgramThatIsNotThereIsNamedAndLeavesNothing() {
    int before = Run.openDescriptors();
    assertThatThrownBy(() -> Run.SPAWNER.spawn(Spawn.of(List.of("/nowhere/prog"))))
        .isInstanceOf(LinuxException.class)
        .hasMessageContaining("/nowhere/prog")
        .hasMessageContaining("ENOENT");
    assertThat(Run.openDescriptors()).isEqualTo(before);
    assertThat(Run.run("echo fine").output()).isEqualTo("fine\n");
  }

  @Test
  void aDirectoryThatIsNotThereIsRefused() throws Exception {
    Path file = Files.createFile(directory.resolve("file"));
    assertThatThrownBy(() -> Run.SPAWNER.spawn(Run.bash("true").in(file)))
        .isInstanceOfSatisfying(
            LinuxException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENOTDIR));
  }

  @Test
  void whatCannotBePassedOnIsRefused() {
    assertThatThrownBy(() -> Spawn.of(List.of("/bin/echo", "a\0b")))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> Run.bash("true").environment(Map.of("A=B", "c")))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> Spawn.of(List.of("echo")))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aChildIsSignalledWhileItLivesAndNotAfterwards() {
    Child child = Run.SPAWNER.spawn(Spawn.of(List.of("/bin/sleep", "1000")));
    assertThat(child.isAlive()).isTrue();
    child.signal(Signal.TERM);
    assertThat(Run.exit(child)).isEqualTo(new Signaled(15));
    assertThat(child.isAlive()).isFalse();
    child.signal(Signal.KILL);
  }
}
