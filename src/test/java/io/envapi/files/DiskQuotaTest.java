package io.envapi.files;

import static io.envapi.files.Fixture.append;
import static io.envapi.files.Fixture.copy;
import static io.envapi.files.Fixture.delete;
import static io.envapi.files.Fixture.edit;
import static io.envapi.files.Fixture.mkdir;
import static io.envapi.files.Fixture.move;
import static io.envapi.files.Fixture.patch;
import static io.envapi.files.Fixture.write;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.envapi.failure.Failure;
import io.envapi.failure.Result;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DiskQuotaTest {

  @TempDir private Path temp;
  private Fixture on;

  @BeforeEach
  void open() throws Exception {
    on = new Fixture(temp);
  }

  @AfterEach
  void close() {
    on.close();
  }

  private void quota(long bytes) {
    on.limits = new FileLimits(1 << 20, 16 << 20, bytes);
  }

  private void exceeded(FileOperation operation, long current, long maximum) {
    assertThat(on.refused(operation))
        .isEqualTo(new Failure.QuotaExceeded("max_disk_bytes", current, maximum));
  }

  @Test
  void whatDoesNotFitLeavesNothing() throws Exception {
    quota(32);
    exceeded(write("new/dir/big", "x".repeat(33)), 0, 32);
    assertThat(on.everything()).isEmpty();
    on.written("fits", "x".repeat(32));
    exceeded(write("one-more", "y"), 32, 32);
    exceeded(append("fits", "y"), 32, 32);
    exceeded(edit("fits", "x".repeat(32), "y".repeat(33)), 32, 32);
    exceeded(
        patch(
            "fits",
            "@@ -1 +1 @@\n-"
                + "x".repeat(32)
                + "\n\\ No newline at end of file\n+"
                + "y".repeat(33)
                + "\n"),
        32,
        32);
    exceeded(copy("fits", "c/d"), 32, 32);
    assertThat(on.everything()).containsExactly("fits");
    // What adds nothing is admitted at the limit.
    on.written("fits", "z".repeat(32));
    on.written("empty", "");
    on.ok(mkdir("a/b"), FileAnswer.Made.class);
    on.ok(move("fits", "m/moved"), FileAnswer.Mutated.class);
    on.ok(edit("m/moved", "z".repeat(32), "z"), FileAnswer.Mutated.class);
    on.written("now-there-is-room", "x".repeat(31));
    exceeded(write("again", "y"), 32, 32);
    on.ok(delete("m", true), FileAnswer.Deleted.class);
    on.written("again", "y");
    exceeded(write("last", "y"), 32, 32);
  }

  @Test
  void overTheQuotaAShrinkingWriteIsStillAdmitted() throws Exception {
    quota(32);
    Files.writeString(on.at("big"), "x".repeat(100));
    exceeded(write("other", "y"), 100, 32);
    on.written("big", "x".repeat(50));
    exceeded(write("big", "x".repeat(51)), 50, 32);
  }

  @Test
  void countsWhatProcessesAndLogsHold() throws Exception {
    on.written("a", "x".repeat(5000));
    Files.write(on.at("z"), new byte[2000]);
    Files.createDirectories(on.at("d/e/f"));
    Files.createSymbolicLink(on.at("l"), Path.of("a"));
    Files.createLink(on.at("a2"), on.at("a"));
    Files.writeString(on.logs.resolve("cmd"), "x".repeat(300));
    assertThat(on.tree.measure()).isEqualTo(new DiskUsage(7000, 300));
    quota(7300);
    exceeded(write("y", "y"), 7300, 7300);
    Files.delete(on.at("z"));
    // Processes' changes are seen when the account is old enough, which for a small one is soon.
    Awaitility.await()
        .atMost(10, TimeUnit.SECONDS)
        .untilAsserted(() -> on.ok(write("y", "y"), FileAnswer.Mutated.class));
  }

  @Test
  void holesCountNothing() throws Exception {
    try (RandomAccessFile sparse = new RandomAccessFile(on.at("sparse").toFile(), "rw")) {
      sparse.setLength(1L << 30);
      sparse.write(1);
    }
    assertThat(on.tree.measure().workspaceBytes()).isBetween(1L, 1L << 16);
  }

  @Test
  void aMissingLogDirectoryHoldsNothing() throws Exception {
    Files.delete(on.logs);
    assertThat(on.tree.measure()).isEqualTo(new DiskUsage(0, 0));
  }

  @Test
  void writersTogetherDoNotExceedIt() throws Exception {
    quota(100);
    try (ExecutorService pool = Executors.newFixedThreadPool(8)) {
      List<Callable<Result<FileAnswer>>> writers =
          IntStream.range(0, 40)
              .mapToObj(
                  i -> (Callable<Result<FileAnswer>>) () -> on.run(write("f" + i, "x".repeat(10))))
              .toList();
      long written =
          pool.invokeAll(writers).stream()
              .filter(f -> f.resultNow() instanceof Result.Ok<FileAnswer>)
              .count();
      assertThat(written).isEqualTo(10);
    }
    assertThat(on.tree.measure().workspaceBytes()).isEqualTo(100);
  }

  @Test
  void aFullDiskLeavesTheOldContent() throws Exception {
    assumeTrue(Fixture.isRoot(), "mounting a small tmpfs needs root");
    on.written("small/f", "old");
    Path small = on.at("small");
    Files.delete(small.resolve("f"));
    assumeTrue(
        command("mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", small.toString()) == 0,
        "mounting a small tmpfs needs CAP_SYS_ADMIN");
    try (FileTree tree = FileTree.open(small, on.logs, on.uid, List.of())) {
      assertThat(tree.run(write("f", "old"), on.limits)).isInstanceOf(Result.Ok.class);
      assertThat(tree.run(write("a/b/c", "x".repeat(300_000)), on.limits))
          .isEqualTo(Result.refused(new Failure.StorageFull()));
      assertThat(tree.run(write("f", "x".repeat(300_000)), on.limits))
          .isEqualTo(Result.refused(new Failure.StorageFull()));
      assertThat(small.resolve("f")).hasContent("old");
      try (var left = Files.list(small)) {
        assertThat(left).containsExactly(small.resolve("f"));
      }
      // Seen from the workspace around it, it is another mount.
      on.outside(write("small/x", "x"));
      on.outside(Fixture.read("small/f"));
      assertThat(on.paths()).containsExactly("small");
      assertThat(on.run(delete("small", true))).isInstanceOf(Result.Refused.class);
      assertThat(small.resolve("f")).hasContent("old");
    } finally {
      assertThat(command("umount", small.toString())).isZero();
    }
  }

  private static int command(String... command) throws Exception {
    Process process = new ProcessBuilder(command).inheritIO().start();
    assertThat(process.waitFor(10, TimeUnit.SECONDS)).isTrue();
    return process.exitValue();
  }
}
