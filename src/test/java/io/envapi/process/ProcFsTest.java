package io.envapi.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.envapi.linux.Child;
import io.envapi.linux.Pipe;
import io.envapi.linux.Run;
import io.envapi.linux.Signal;
import io.envapi.linux.Spawn;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProcFsTest {

  @Test
  void aNameMayHoldAnything(@TempDir Path directory) throws Exception {
    Path program = directory.resolve("a) Z 1 (b");
    Files.copy(Path.of("/bin/sleep"), program);
    Child child = Run.SPAWNER.spawn(Spawn.of(List.of(program.toString(), "1000")));
    try {
      await()
          .untilAsserted(
              () -> assertThat(ProcFs.stat(child.pid()).orElseThrow().state()).isEqualTo('S'));
      ProcFs.Stat stat = ProcFs.stat(child.pid()).orElseThrow();
      assertThat(stat.comm()).isEqualTo("a) Z 1 (b");
      assertThat(stat.ppid()).isEqualTo((int) ProcessHandle.current().pid());
      assertThat(stat.pgid()).isEqualTo(child.pid());
      assertThat(stat.session()).isEqualTo(child.pid());
    } finally {
      child.signal(Signal.KILL);
      Run.exit(child);
    }
  }

  @Test
  void everyFieldIsTheOneOfTheManual() {
    String line = "7 (x) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25";
    // Fields 8, 14, 15, 22 and 24 of proc(5): each value is its field's number less three.
    assertThat(ProcFs.parse(7, line))
        .contains(new ProcFs.Stat(7, "x", 'S', 1, 2, 3, 5, 11, 12, 19, 21));
    assertThat(ProcFs.parse(7, "")).isEmpty();
    assertThat(ProcFs.parse(7, "7 (x) S 1 2")).isEmpty();
  }

  @Test
  void aSignalIsTakenByDefaultUnlessIgnoredOrCaught() {
    Child child =
        Run.SPAWNER.spawn(Run.bash("trap '' INT; trap : USR1; while :; do sleep 0.1; done"));
    try {
      await().until(() -> !ProcFs.takesDefault(child.pid(), Signal.USR1));
      assertThat(ProcFs.takesDefault(child.pid(), Signal.INT)).isFalse();
      assertThat(ProcFs.takesDefault(child.pid(), Signal.USR2)).isTrue();
      assertThat(ProcFs.catches(child.pid(), Signal.USR1)).isTrue();
      assertThat(ProcFs.catches(child.pid(), Signal.INT)).isFalse();
    } finally {
      child.signal(Signal.KILL);
      Run.exit(child);
    }
    assertThat(ProcFs.takesDefault(child.pid(), Signal.USR2)).isFalse();
  }

  @Test
  void aProcessThatIsGoneIsEmptyEverywhere() {
    Child child = Run.SPAWNER.spawn(Run.bash("exit 0"));
    Run.exit(child);
    assertThat(ProcFs.stat(child.pid())).isEmpty();
    assertThat(ProcFs.cmdline(child.pid())).isEmpty();
    assertThat(ProcFs.syscall(child.pid())).isEmpty();
    assertThat(ProcFs.children(child.pid())).isEmpty();
    assertThat(ProcessInfo.read(child.pid())).isEmpty();
    assertThat(ProcessIdentity.of(child.pid())).isEmpty();
  }

  @Test
  void argumentsAreJoinedAndAProcessWithoutAnyHasItsName() {
    Child child =
        Run.SPAWNER.spawn(Spawn.of(List.of("/bin/bash", "-c", "kill -STOP $$", "a b", "", "c")));
    // Exec has let go of the parent before the arguments are where they can be read.
    await()
        .untilAsserted(
            () ->
                assertThat(ProcFs.cmdline(child.pid()))
                    .contains("/bin/bash -c kill -STOP $$ a b  c"));
    child.signal(Signal.KILL);
    Run.exit(child);
    assumeTrue(ProcFs.stat(2).isPresent(), "needs to see kernel threads");
    assertThat(ProcFs.cmdline(2)).contains("[kthreadd]");
  }

  @Test
  void tellsWhichCallAProcessWaitsIn() {
    assumeTrue(System.getProperty("os.arch").equals("amd64"), "the number is that of x86-64");
    try (Pipe pipe = Pipe.open()) {
      Child child =
          Run.SPAWNER.spawn(
              Spawn.of(List.of("/bin/cat")).descriptors(Map.of(0, pipe.read(), 1, pipe.write())));
      await()
          .untilAsserted(
              () -> assertThat(ProcFs.syscall(child.pid())).contains(new ProcFs.Syscall(0, 0)));
      child.signal(Signal.KILL);
      Run.exit(child);
    }
  }

  @Test
  void aTimeOfDayIsComparableWithTheStartOfAProcess() {
    for (int i = 0; i < 20; i++) {
      long before = System.currentTimeMillis();
      Child child = Run.SPAWNER.spawn(Spawn.of(List.of("/bin/sleep", "1000")));
      long after = System.currentTimeMillis();
      long start = ProcFs.stat(child.pid()).orElseThrow().startTicks();
      assertThat(ProcFs.ticksAt(before)).isLessThanOrEqualTo(start);
      assertThat(ProcFs.ticksAt(after)).isGreaterThanOrEqualTo(start - 1);
      child.signal(Signal.KILL);
      Run.exit(child);
    }
  }

  @Test
  void infoIsInTheUnitsOfTheContract() {
    try (Pipe pipe = Pipe.open()) {
      // Burns CPU until it has used a tenth of a second, then waits.
      Child child =
          Run.SPAWNER.spawn(
              Run.bash(
                      "while read -r l < /proc/$$/stat; set -- ${l##*) };"
                          + " ((${12} + ${13} < 10)); do :; done; read -r x")
                  .descriptors(Map.of(0, pipe.read())));
      await().until(() -> ProcFs.stat(child.pid()).orElseThrow().userTicks() > 0);
      await()
          .untilAsserted(
              () ->
                  assertThat(ProcessInfo.read(child.pid()).orElseThrow().cpuSeconds())
                      .isBetween(0.1, 2.0));
      ProcessInfo info = ProcessInfo.read(child.pid()).orElseThrow();
      assertThat(info.pid()).isEqualTo(child.pid());
      assertThat(info.pgid()).isEqualTo(child.pid());
      assertThat(info.ppid()).isEqualTo((int) ProcessHandle.current().pid());
      assertThat(info.rssBytes()).isBetween(500_000L, 50_000_000L);
      assertThat(info.elapsedSeconds()).isBetween(0.05, 60.0);
      assertThat(info.state()).hasSize(1);
      assertThat(info.cmdline()).startsWith("/bin/bash --noprofile");
      child.signal(Signal.KILL);
      Run.exit(child);
    }
  }
}
