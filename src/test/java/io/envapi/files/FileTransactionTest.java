package io.envapi.files;

import static org.assertj.core.api.Assertions.assertThat;

import io.envapi.failure.Failure;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Several changes, all or none. */
class FileTransactionTest {

  @TempDir Path temp;
  private Fixture workspace;

  @BeforeEach
  void open() throws Exception {
    workspace = new Fixture(temp);
  }

  @AfterEach
  void close() {
    assertThat(temp.resolve("transaction")).as("what is to be undone").doesNotExist();
    workspace.close();
  }

  private static FileOperation.Transaction all(FileOperation... operations) {
    return new FileOperation.Transaction(List.of(operations));
  }

  private Map<String, String> state() throws Exception {
    var state = new TreeMap<String, String>();
    for (String each : workspace.everything()) {
      Path path = workspace.at(each);
      state.put(each, Files.isDirectory(path) ? "/" : Files.readString(path));
    }
    return state;
  }

  @Test
  void allKindsOfChangesAreMadeTogether() throws Exception {
    workspace.written("edited", "one two");
    workspace.written("patched", "a\nb\n");
    workspace.written("gone", "x");
    workspace.written("tree/in/it", "x");
    workspace.written("moved", "m");
    workspace.written("copied", "c");
    Files.setPosixFilePermissions(
        workspace.at("edited"), PosixFilePermissions.fromString("rwxr-x---"));
    FileAnswer.Transacted done =
        workspace.ok(
            all(
                Fixture.mkdir("new/dir"),
                Fixture.write("new/dir/file", "n"),
                Fixture.edit("edited", "two", "three"),
                Fixture.edit("edited", "one", "zero"),
                Fixture.append("edited", "!"),
                Fixture.patch("patched", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n"),
                Fixture.delete("gone", false),
                Fixture.delete("tree", true),
                Fixture.move("moved", "new/moved"),
                Fixture.copy("copied", "other/copied")),
            FileAnswer.Transacted.class);
    assertThat(done.answers()).hasSize(10);
    assertThat(state())
        .isEqualTo(
            Map.ofEntries(
                Map.entry("new", "/"),
                Map.entry("new/dir", "/"),
                Map.entry("new/dir/file", "n"),
                Map.entry("edited", "zero three!"),
                Map.entry("patched", "a\nc\n"),
                Map.entry("new/moved", "m"),
                Map.entry("copied", "c"),
                Map.entry("other", "/"),
                Map.entry("other/copied", "c")));
    assertThat(((FileAnswer.Mutated) done.answers().get(4)).etag())
        .isEqualTo(workspace.content("edited").etag());
    assertThat(Files.getPosixFilePermissions(workspace.at("edited")))
        .isEqualTo(PosixFilePermissions.fromString("rwxr-x---"));
    assertThat(Files.getAttribute(workspace.at("new/dir/file"), "unix:uid"))
        .isEqualTo(workspace.uid);
  }

  @Test
  void oneThatIsRefusedRefusesAllAndIsNamed() throws Exception {
    workspace.written("a", "1");
    workspace.written("d/f", "x");
    Map<String, String> before = state();
    IfMatch stale = IfMatch.parse("\"stale\"");
    Map<FileOperation, Class<? extends Failure>> bad =
        Map.of(
            Fixture.write("a", "2", stale), Failure.FileChanged.class,
            Fixture.edit("missing", "a", "b"), Failure.NotFound.class,
            Fixture.edit("a", "nowhere", "b"), Failure.Ambiguous.class,
            Fixture.move("a", "d/f"), Failure.Conflict.class,
            Fixture.write("d", "x"), Failure.Invalid.class,
            Fixture.delete("no", false), Failure.NotFound.class,
            Fixture.patch("a", "@@ -1 +1 @@\n-nope\n+zz\n"), Failure.Conflict.class,
            Fixture.write("../out", "x"), Failure.PathOutsideWorkspace.class,
            Fixture.read("a"), Failure.Invalid.class,
            all(), Failure.Invalid.class);
    bad.forEach(
        (operation, why) -> {
          Failure refused = workspace.refused(all(Fixture.write("new/x", "y"), operation));
          assertThat(refused).isInstanceOf(Failure.InOperation.class);
          var in = (Failure.InOperation) refused;
          assertThat(in.index()).isEqualTo(1);
          assertThat(in.why()).isInstanceOf(why);
        });
    assertThat(state()).isEqualTo(before);
  }

  @Test
  void whatFailsOnlyWhileItIsDoneIsTakenBack() throws Exception {
    workspace.written("full/f", "x");
    workspace.written("old", "old");
    workspace.written("gone", "g");
    Map<String, String> before = state();
    // That the directory is not empty shows when its turn comes, after the others.
    Failure refused =
        workspace.refused(
            all(
                Fixture.delete("gone", false),
                Fixture.move("old", "made/moved"),
                Fixture.write("fresh/dir/f", "y"),
                Fixture.delete("full", false)));
    assertThat(refused).isInstanceOf(Failure.InOperation.class);
    assertThat(((Failure.InOperation) refused).index()).isEqualTo(3);
    assertThat(state()).isEqualTo(before);
    // A file where another operation needs a directory.
    assertThat(
            workspace.refused(all(Fixture.write("old", "new"), Fixture.write("gone/below", "z"))))
        .isInstanceOf(Failure.InOperation.class);
    assertThat(state()).isEqualTo(before);
  }

  @Test
  void operationsThatTouchTheSamePathAreRefused() throws Exception {
    workspace.written("a", "1");
    workspace.written("d/f", "x");
    for (FileOperation second :
        List.of(
            Fixture.delete("a", false),
            Fixture.move("a", "b"),
            Fixture.copy("d/f", "a"),
            Fixture.mkdir("a"),
            Fixture.write("a/below", "x"))) {
      Failure refused = workspace.refused(all(Fixture.write("a", "2"), second));
      assertThat(refused).as(second.toString()).isInstanceOf(Failure.InOperation.class);
    }
    assertThat(workspace.refused(all(Fixture.delete("d", true), Fixture.write("d/f", "y"))))
        .isInstanceOf(Failure.InOperation.class);
    assertThat(workspace.refused(all(Fixture.write("d/f", "y"), Fixture.delete("d", true))))
        .isInstanceOf(Failure.InOperation.class);
    assertThat(workspace.text("a")).isEqualTo("1");
    assertThat(workspace.text("d/f")).isEqualTo("x");
  }

  @Test
  void theQuotaIsWeighedForAllTogether() throws Exception {
    workspace.written("big", "x".repeat(1000));
    workspace.limits = new FileLimits(1 << 20, 1 << 20, 1500);
    Map<String, String> before = state();
    assertThat(
            workspace.refused(
                all(Fixture.write("p/a", "a".repeat(300)), Fixture.write("p/b", "b".repeat(300)))))
        .isInstanceOf(Failure.QuotaExceeded.class);
    assertThat(state()).isEqualTo(before);
    workspace.ok(
        all(Fixture.write("p/a", "a".repeat(900)), Fixture.delete("big", false)),
        FileAnswer.Transacted.class);
    assertThat(workspace.refused(Fixture.write("c", "c".repeat(700))))
        .isInstanceOf(Failure.QuotaExceeded.class);
  }

  @Test
  void aLogThatIsNoLogIsPassedOver() throws Exception {
    workspace.written("file", "x");
    for (String left :
        List.of("run\n\0\0\0\n", "run\nput\nmove 2f2f 66 x\nkeep . 2f\n", "run\nput 66")) {
      Files.writeString(temp.resolve("transaction"), left);
      workspace.open().close();
      assertThat(state()).isEqualTo(Map.of("file", "x"));
      Files.deleteIfExists(temp.resolve("transaction"));
    }
  }
}
