package io.envapi.files;

import static io.envapi.files.Fixture.append;
import static io.envapi.files.Fixture.copy;
import static io.envapi.files.Fixture.delete;
import static io.envapi.files.Fixture.edit;
import static io.envapi.files.Fixture.list;
import static io.envapi.files.Fixture.mkdir;
import static io.envapi.files.Fixture.move;
import static io.envapi.files.Fixture.read;
import static io.envapi.files.Fixture.write;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.envapi.failure.Failure;
import io.envapi.failure.Result;
import io.envapi.linux.Directory;
import io.envapi.linux.Exchange;
import io.envapi.linux.FileName;
import io.envapi.linux.LinuxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Nothing outside a workspace is read or changed, whatever its processes put into it. */
class ContainmentTest {

  private static final String SECRET = "not for the workspace";

  @TempDir(factory = InMemory.class)
  private Path temp;

  private Path outside;
  private Fixture on;

  @BeforeEach
  void open() throws Exception {
    on = new Fixture(temp);
    outside = Files.createDirectory(temp.resolve("outside"));
    Files.writeString(outside.resolve("victim"), SECRET);
    Files.writeString(outside.resolve("real"), SECRET);
  }

  @AfterEach
  void close() throws Exception {
    on.close();
    try (var left = Files.list(outside)) {
      assertThat(left)
          .containsExactlyInAnyOrder(outside.resolve("victim"), outside.resolve("real"));
    }
    assertThat(outside.resolve("victim")).hasContent(SECRET);
    assertThat(outside.resolve("real")).hasContent(SECRET);
  }

  private void refusedInEveryWay(String path) {
    for (FileOperation each :
        List.of(
            read(path),
            write(path, "x"),
            append(path, "x"),
            edit(path, "a", "b"),
            Fixture.patch(path, "@@ -1 +1 @@\n-a\n+b\n"),
            mkdir(path),
            delete(path, false),
            delete(path, true),
            list(path, 1),
            copy(path, "copied"),
            move(path, "moved"),
            copy("plain", path),
            move("plain", path))) {
      assertThat(on.refused(each))
          .as("%s", each)
          .isInstanceOfSatisfying(
              Failure.PathOutsideWorkspace.class, f -> assertThat(f.path()).isEqualTo(path));
    }
  }

  @Test
  void pathsThatLeadOut() throws Exception {
    on.written("plain", "x");
    for (String path :
        List.of("..", "../outside/victim", "a/../../outside/x", "/etc/passwd", "/", "..\\x")) {
      refusedInEveryWay(path);
    }
    assertThat(on.everything()).containsExactly("plain");
  }

  @Test
  void linksAnywhereInThePath() throws Exception {
    on.written("plain", "x");
    on.written("d/f", "inside");
    link("out", outside.toString());
    link("up", "../..");
    link("pw", outside.resolve("victim").toString());
    link("inner", "d");
    link("innerfile", "d/f");
    link("dangling", "nowhere");
    link("loop", "loop");
    link("self", "/proc/self/fd");
    link("root", "/proc/self/root");
    link("d/back", "..");
    var before = on.everything();
    for (String path :
        List.of(
            "out",
            "out/",
            "out/.",
            "out/victim",
            "out/new",
            "out/new/deep",
            "up",
            "up/outside/victim",
            "pw",
            "inner",
            "inner/f",
            "innerfile",
            "dangling",
            "dangling/x",
            "loop",
            "loop/x",
            "self/0",
            "root/etc/passwd",
            "d/back/plain",
            "out/../etc/passwd",
            "d/back/../plain",
            "d/../out/victim",
            "out\\victim")) {
      refusedInEveryWay(path);
    }
    assertThat(on.everything()).isEqualTo(before);
    assertThat(on.text("missing/../plain")).isEqualTo("x");
    assertThat(on.text("plain/../d/f")).isEqualTo("inside");
  }

  @Test
  void linksAreListedButNotEntered() throws Exception {
    link("out", outside.toString());
    link("up", "..");
    link("loop", ".");
    Files.createDirectory(on.at("d"));
    link("d/loop", "..");
    var rows = on.ok(list(".", 10), FileAnswer.Listing.class).entries();
    assertThat(rows)
        .extracting(FileAnswer.Entry::path)
        .containsExactly("d", "d/loop", "loop", "out", "up");
    assertThat(rows.get(3).kind()).isEqualTo(FileAnswer.EntryKind.SYMLINK);
    assertThat(rows.get(3).target()).contains(outside.toString());
    assertThat(on.ok(FileSearchTest.search(SECRET), FileAnswer.Found.class).totalMatches())
        .isZero();
  }

  @Test
  void aDeletedTreeDoesNotTakeWhatItsLinksLeadTo() throws Exception {
    Files.createDirectories(on.at("d/e"));
    link("d/out", outside.toString());
    link("d/e/victim", outside.resolve("victim").toString());
    on.ok(delete("d", true), FileAnswer.Deleted.class);
    assertThat(on.everything()).isEmpty();
    link("out", outside.toString());
    on.tree.clear();
    assertThat(on.everything()).isEmpty();
  }

  @Test
  @Timeout(20)
  void whatIsNoFileMakesNobodyWait() throws Exception {
    on.written("d/real", "needle\n");
    shell("mkfifo pipe d/pipe");
    assertThat(on.refused(read("pipe"))).isInstanceOf(Failure.NotFound.class);
    assertThat(on.refused(write("pipe", "x"))).isInstanceOf(Failure.Conflict.class);
    assertThat(on.refused(append("pipe", "x"))).isInstanceOf(Failure.Conflict.class);
    assertThat(on.refused(edit("pipe", "a", "b"))).isInstanceOf(Failure.NotFound.class);
    assertThat(on.refused(copy("pipe", "c"))).isInstanceOf(Failure.NotFound.class);
    assertThat(on.refused(move("pipe", "c"))).isInstanceOf(Failure.NotFound.class);
    assertThat(on.ok(FileSearchTest.search("needle"), FileAnswer.Found.class).totalMatches())
        .isEqualTo(1);
    assertThat(on.ok(list("d", 0), FileAnswer.Listing.class).entries())
        .extracting(FileAnswer.Entry::kind)
        .containsExactly(FileAnswer.EntryKind.OTHER, FileAnswer.EntryKind.FILE);
    on.ok(delete("pipe", false), FileAnswer.Deleted.class);
  }

  @Test
  void devicesAreNoFiles() throws Exception {
    assumeTrue(Fixture.isRoot(), "mknod needs root");
    assumeTrue(shell("mknod zero c 1 5") == 0, "mknod needs CAP_MKNOD");
    assertThat(on.refused(read("zero"))).isInstanceOf(Failure.NotFound.class);
    assertThat(on.refused(write("zero", "x"))).isInstanceOf(Failure.Conflict.class);
  }

  @Test
  void hardLinksToSomebodyElsesFilesAreNotRead() throws Exception {
    assumeTrue(
        Fixture.isRoot(), "hard links to foreign files need root or fs.protected_hardlinks=0");
    Files.createLink(on.at("hard"), outside.resolve("victim"));
    assertThat(on.refused(read("hard"))).isInstanceOf(Failure.NotFound.class);
    assertThat(on.refused(write("hard", "x"))).isInstanceOf(Failure.Conflict.class);
    assertThat(on.refused(copy("hard", "c"))).isInstanceOf(Failure.NotFound.class);
    assertThat(on.ok(FileSearchTest.search(SECRET), FileAnswer.Found.class).totalMatches())
        .isZero();
    on.written("mine", "x");
    Files.createLink(on.at("mine2"), on.at("mine"));
    assertThat(on.text("mine2")).isEqualTo("x");
  }

  @Test
  @Timeout(120)
  void racesWithLinksNeverLeadOut() throws Exception {
    // real/ is a directory of the workspace, trap leads out; they change places all the time, and
    // so do a file and a link to the victim.
    on.written("real/victim", "inside");
    link("trap", outside.toString());
    on.written("file", "inside");
    link("filetrap", outside.resolve("victim").toString());
    AtomicBoolean done = new AtomicBoolean();
    Thread attacker = new Thread(() -> swap(done), "attacker");
    attacker.start();
    int inside = 0;
    int refused = 0;
    try {
      for (int i = 0; i < 25_000; i++) {
        FileOperation operation =
            switch (i % 10) {
              case 0 -> write("real/victim", "written " + i);
              case 1 -> write("file", "written " + i);
              case 2 -> i % 50 == 2 ? write("real/new/deep" + i, "x") : read("real/victim");
              case 3 -> mkdir("real/directory");
              case 4 -> list("real", 2);
              case 5 -> i % 50 == 5 ? copy("file", "real/copy" + i) : edit("file", "nope", "x");
              case 6 -> delete("real", true);
              case 7 -> i % 50 == 7 ? FileSearchTest.search(SECRET) : read("real/../file");
              case 8 -> read("file");
              default -> read("real/victim");
            };
        switch (on.run(operation)) {
          case Result.Ok<FileAnswer>(var answer) -> {
            inside++;
            assertThat(answer.toString()).doesNotContain(SECRET);
            if (answer instanceof FileAnswer.Found found) {
              assertThat(found.totalMatches()).isZero();
            }
          }
          case Result.Refused<FileAnswer> _ -> refused++;
        }
      }
    } finally {
      done.set(true);
      attacker.join();
    }
    // The race was one: both outcomes are there.
    assertThat(inside).isGreaterThan(1000);
    assertThat(refused).isGreaterThan(1000);
  }

  private void swap(AtomicBoolean done) {
    try (Directory directory = Directory.open(on.files)) {
      while (!done.get()) {
        try {
          Exchange.names(directory, FileName.of("real"), FileName.of("trap"));
          Exchange.names(directory, FileName.of("file"), FileName.of("filetrap"));
        } catch (LinuxException e) {
          // A delete of the service came between.
          continue;
        }
      }
    }
  }

  private void link(String name, String target) throws Exception {
    Files.createSymbolicLink(on.at(name), Path.of(target));
  }

  private int shell(String script) throws Exception {
    Process process =
        new ProcessBuilder("sh", "-c", script).directory(on.files.toFile()).inheritIO().start();
    assertThat(process.waitFor(10, TimeUnit.SECONDS)).isTrue();
    return process.exitValue();
  }
}
