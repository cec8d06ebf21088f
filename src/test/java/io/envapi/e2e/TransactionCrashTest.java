package io.envapi.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.envapi.failure.Result;
import io.envapi.files.ContentEncoding;
import io.envapi.files.FileAnswer;
import io.envapi.files.FileLimits;
import io.envapi.files.FileOperation;
import io.envapi.files.FileTree;
import io.envapi.files.IfMatch;
import io.envapi.files.SentPath;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Transactions on files are all or none when their process is killed in the middle. */
class TransactionCrashTest {

  /** {@code -Denvapi.crash.transactions=200} for the long run. */
  private static final int ROUNDS = Integer.getInteger("envapi.crash.transactions", 10);

  private static final int FILES = 6;
  private static final long LONGEST_NANOS = Duration.ofMillis(60).toNanos();

  @TempDir Path directory;

  @Test
  void whatACrashCutOffIsTakenBack() throws Exception {
    Path files = Files.createDirectory(directory.resolve("workspace"));
    Path logs = Files.createDirectory(directory.resolve("logs"));
    long seed = System.nanoTime();
    var random = new Random(seed);
    int cutOff = 0;
    try (FileTree tree = open(directory)) {
      done(tree, beginning());
    }
    for (int round = 0; round < ROUNDS; round++) {
      int before = Loop.generation(files);
      try (JavaProcess loop =
          JavaProcess.start(
              Loop.class.getName(),
              Map.of("DIRECTORY", directory.toString()),
              directory.resolve("log"),
              "-XX:TieredStopAtLevel=1")) {
        await()
            .pollInterval(Duration.ofMillis(5))
            .failFast("the loop ended", () -> !loop.isAlive())
            .until(() -> Loop.generation(files) > before);
        LockSupport.parkNanos(random.nextLong(LONGEST_NANOS));
        loop.kill();
      }
      cutOff += FileTree.isCutOff(logs) ? 1 : 0;
      open(directory).close();
      assertThat(FileTree.isCutOff(logs)).isFalse();
      assertThat(state(files))
          .as("round %d, seed %d", round, seed)
          .isEqualTo(expected(Loop.generation(files)));
    }
    assertThat(cutOff).as("kills in the middle of a transaction").isPositive();
  }

  private static FileTree open(Path directory) throws IOException {
    int uid = (int) Files.getAttribute(directory.resolve("workspace"), "unix:uid");
    return FileTree.open(directory.resolve("workspace"), directory.resolve("logs"), uid, List.of());
  }

  private static void done(FileTree tree, List<FileOperation> operations) {
    Result<FileAnswer> answer =
        tree.run(
            new FileOperation.Transaction(operations), new FileLimits(1 << 20, 1 << 20, 1L << 30));
    if (answer instanceof Result.Refused<FileAnswer>(var failure)) {
      throw new IllegalStateException(failure.toString());
    }
  }

  private static List<FileOperation> beginning() {
    List<FileOperation> operations = new ArrayList<>();
    for (int i = 0; i < FILES; i++) {
      operations.add(write("file-" + i, "0"));
    }
    operations.add(write("new-0", "0"));
    operations.add(write("side-0/moved", "m"));
    operations.add(mkdir("side-1"));
    operations.add(write("tree-0/in/it", "0"));
    return operations;
  }

  /** From one generation to the next: content, new files, moves, directories. */
  private static List<FileOperation> step(int from) {
    int to = from + 1;
    List<FileOperation> operations = new ArrayList<>();
    for (int i = 0; i < FILES; i++) {
      operations.add(write("file-" + i, Integer.toString(to)));
    }
    operations.add(write("new-" + to, Integer.toString(to)));
    operations.add(delete("new-" + from));
    operations.add(
        new FileOperation.MoveFile(
            SentPath.of("side-" + from % 2 + "/moved"),
            SentPath.of("side-" + to % 2 + "/moved"),
            IfMatch.none()));
    operations.add(write("tree-" + to + "/in/it", Integer.toString(to)));
    operations.add(delete("tree-" + from));
    return operations;
  }

  private static Map<String, String> expected(int generation) {
    var state = new TreeMap<String, String>();
    String content = Integer.toString(generation);
    for (int i = 0; i < FILES; i++) {
      state.put("file-" + i, content);
    }
    state.put("new-" + generation, content);
    state.put("side-0", "/");
    state.put("side-1", "/");
    state.put("side-" + generation % 2 + "/moved", "m");
    state.put("tree-" + generation, "/");
    state.put("tree-" + generation + "/in", "/");
    state.put("tree-" + generation + "/in/it", content);
    return state;
  }

  private static Map<String, String> state(Path files) throws IOException {
    var state = new TreeMap<String, String>();
    try (Stream<Path> all = Files.walk(files)) {
      for (Path each : all.skip(1).toList()) {
        String name = files.relativize(each).toString();
        state.put(name, Files.isDirectory(each) ? "/" : Files.readString(each));
      }
    }
    return state;
  }

  private static FileOperation write(String path, String content) {
    return new FileOperation.WriteFile(
        SentPath.of(path),
        content,
        ContentEncoding.UTF_8,
        FileOperation.WriteMode.OVERWRITE,
        IfMatch.none(),
        IfMatch.none());
  }

  private static FileOperation mkdir(String path) {
    return new FileOperation.MakeDirectory(SentPath.of(path));
  }

  private static FileOperation delete(String path) {
    return new FileOperation.DeleteFile(SentPath.of(path), true, IfMatch.none());
  }

  /** Goes from generation to generation until it is killed. */
  static final class Loop {

    private Loop() {}

    public static void main(String[] arguments) throws IOException {
      Path directory = Path.of(System.getenv("DIRECTORY"));
      try (FileTree tree = open(directory)) {
        int generation = generation(directory.resolve("workspace"));
        while (generation < Integer.MAX_VALUE) {
          done(tree, step(generation));
          generation++;
        }
      }
    }

    static int generation(Path files) throws IOException {
      return Integer.parseInt(Files.readString(files.resolve("file-0")));
    }
  }
}
