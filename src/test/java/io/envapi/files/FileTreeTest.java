package io.envapi.files;

import static io.envapi.files.Fixture.append;
import static io.envapi.files.Fixture.copy;
import static io.envapi.files.Fixture.delete;
import static io.envapi.files.Fixture.edit;
import static io.envapi.files.Fixture.mkdir;
import static io.envapi.files.Fixture.move;
import static io.envapi.files.Fixture.patch;
import static io.envapi.files.Fixture.read;
import static io.envapi.files.Fixture.write;
import static org.assertj.core.api.Assertions.assertThat;

import io.envapi.failure.Failure;
import io.envapi.failure.Result;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileTreeTest {

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

  private void invalid(FileOperation operation) {
    assertThat(on.refused(operation)).isInstanceOf(Failure.Invalid.class);
  }

  private void missing(FileOperation operation) {
    assertThat(on.refused(operation)).isInstanceOf(Failure.NotFound.class);
  }

  private void conflict(FileOperation operation) {
    assertThat(on.refused(operation)).isInstanceOf(Failure.Conflict.class);
  }

  private void changed(FileOperation operation) {
    assertThat(on.refused(operation)).isEqualTo(new Failure.FileChanged());
  }

  @Test
  void readsWhatItWrote() throws Exception {
    FileAnswer.Mutated written = on.written("a/b.txt", "h\u00e9llo\n");
    String sha =
        HexFormat.of()
            .formatHex(
                MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(on.at("a/b.txt"))));
    assertThat(written)
        .isEqualTo(new FileAnswer.Mutated("a/b.txt", 7, '"' + sha + '"', "", List.of(), List.of()));
    assertThat(on.content("a/./b.txt"))
        .isEqualTo(
            new FileAnswer.Content(
                "a/b.txt",
                7,
                0,
                "h\u00e9llo\n",
                ContentEncoding.UTF_8,
                false,
                false,
                written.etag(),
                7));
    on.written("a/b.txt", "x");
    assertThat(on.text("a/b.txt")).isEqualTo("x");
    assertThat(on.everything()).containsExactlyInAnyOrder("a", "a/b.txt");
  }

  @Test
  void whatItMakesBelongsToTheWorkspace() throws Exception {
    on.written("d/e/f", "x");
    on.ok(mkdir("m"), FileAnswer.Made.class);
    on.ok(copy("d/e/f", "c/f"), FileAnswer.Mutated.class);
    for (String each : List.of("d", "d/e", "d/e/f", "m", "c", "c/f")) {
      assertThat(Files.getAttribute(on.at(each), "unix:uid")).as(each).isEqualTo(on.uid);
      assertThat(Files.getAttribute(on.at(each), "unix:gid"))
          .as(each)
          .isEqualTo(Files.getAttribute(on.files, "unix:gid"));
      String expected = Files.isDirectory(on.at(each)) ? "rwxr-xr-x" : "rw-r--r--";
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(on.at(each))))
          .isEqualTo(expected);
    }
  }

  @Test
  void anOverwriteKeepsOwnerAndModeButNoSetuid() throws Exception {
    on.written("f", "x");
    Files.setAttribute(on.at("f"), "unix:mode", 06751);
    if (Fixture.isRoot()) {
      Files.setAttribute(on.at("f"), "unix:uid", 4711);
      Files.setAttribute(on.at("f"), "unix:mode", 06751);
    }
    Object uid = Files.getAttribute(on.at("f"), "unix:uid");
    on.written("f", "y");
    assertThat((int) Files.getAttribute(on.at("f"), "unix:mode") & 07777).isEqualTo(0751);
    assertThat(Files.getAttribute(on.at("f"), "unix:uid")).isEqualTo(uid);
  }

  @Test
  void windowsContinueExactly() {
    on.written("n", "0123456789");
    FileAnswer.Content window = on.ok(read("n", 4, 4), FileAnswer.Content.class);
    assertThat(window.content()).isEqualTo("4567");
    assertThat(window.nextOffset()).isEqualTo(8);
    assertThat(window.truncated()).isTrue();
    assertThat(window.size()).isEqualTo(10);
    assertThat(window.etag()).isEqualTo(on.content("n").etag());
    assertThat(on.ok(read("n", 8, 4), FileAnswer.Content.class).truncated()).isFalse();
    for (long past : new long[] {10, 500, Long.MAX_VALUE}) {
      FileAnswer.Content end = on.ok(read("n", past, 4), FileAnswer.Content.class);
      assertThat(end.content()).isEmpty();
      assertThat(end.truncated()).isFalse();
      assertThat(end.nextOffset()).isEqualTo(past);
    }
    invalid(read("n", -1, 4));
    invalid(read("n", 0, 0));
    on.limits = new FileLimits(3, 100, 1000);
    assertThat(on.text("n")).isEqualTo("012");
  }

  @Test
  void windowsDoNotSplitCharacters() {
    on.written("u", "a\u20acb\u20ac");
    FileAnswer.Content window = on.ok(read("u", 0, 3), FileAnswer.Content.class);
    assertThat(window.content()).isEqualTo("a");
    assertThat(window.nextOffset()).isEqualTo(1);
    assertThat(window.truncated()).isTrue();
    assertThat(on.ok(read("u", 1, 4), FileAnswer.Content.class).content()).isEqualTo("\u20acb");
    invalid(read("u", 2, 10));
    invalid(read("u", 1, 2));
  }

  @Test
  void theWholeFileDecidesWhetherItIsText() throws Exception {
    Files.write(on.at("late"), ("t".repeat(600_000) + "\u20ac").getBytes("UTF-16LE"));
    assertThat(on.ok(read("late", 0, 4), FileAnswer.Content.class).binary()).isTrue();
    byte[] text = ("t".repeat(262_143) + "\u20ac".repeat(100_000)).getBytes("UTF-8");
    Files.write(on.at("text"), text);
    assertThat(on.ok(read("text", 0, 4), FileAnswer.Content.class).content()).isEqualTo("tttt");
    text[text.length - 1] = 'x';
    Files.write(on.at("text"), text);
    FileAnswer.Content binary = on.ok(read("text", 1, 4), FileAnswer.Content.class);
    assertThat(binary.encoding()).isEqualTo(ContentEncoding.BASE64);
    assertThat(Base64.getDecoder().decode(binary.content())).containsExactly('t', 't', 't', 't');
    assertThat(binary.nextOffset()).isEqualTo(5);
  }

  @Test
  void aFileReadAgainIsReadAsItIsNow() throws Exception {
    // Old enough to be remembered.
    on.written("f", "one");
    org.awaitility.Awaitility.await()
        .until(
            () ->
                Files.getLastModifiedTime(on.at("f")).toMillis() + 2100
                    < System.currentTimeMillis());
    String first = on.content("f").etag();
    assertThat(on.content("f").etag()).isEqualTo(first);
    assertThat(on.ok(read("f", 1, 1), FileAnswer.Content.class).content()).isEqualTo("n");
    var time = Files.getLastModifiedTime(on.at("f"));
    Files.writeString(on.at("f"), "two");
    Files.setLastModifiedTime(on.at("f"), time);
    assertThat(on.content("f").content()).isEqualTo("two");
    assertThat(on.content("f").etag()).isNotEqualTo(first);
  }

  @Test
  void aHugeSparseFileIsRefusedAtOnce() throws Exception {
    try (RandomAccessFile sparse = new RandomAccessFile(on.at("big").toFile(), "rw")) {
      sparse.setLength(1L << 40);
    }
    assertThat(on.refused(read("big"))).isEqualTo(new Failure.TooLarge(1L << 40));
    assertThat(on.refused(copy("big", "c"))).isEqualTo(new Failure.TooLarge(1L << 40));
    assertThat(on.refused(move("big", "c"))).isEqualTo(new Failure.TooLarge(1L << 40));
    assertThat(on.refused(edit("big", "a", "b"))).isEqualTo(new Failure.TooLarge(1L << 40));
    assertThat(on.refused(write("big", "x", IfMatch.parse("\"a\""))))
        .isEqualTo(new Failure.TooLarge(1L << 40));
    assertThat(on.refused(append("big", "x"))).isInstanceOf(Failure.InvalidLimit.class);
    assertThat(on.tree.measure().workspaceBytes()).isZero();
    on.written("big", "x");
    assertThat(on.text("big")).isEqualTo("x");
  }

  @Test
  void writesWithinTheCap() {
    on.limits = new FileLimits(100, 10, 1000);
    on.written("f", "0123456789");
    assertThat(on.refused(write("f", "0123456789x")))
        .isInstanceOfSatisfying(
            Failure.InvalidLimit.class, f -> assertThat(f.limit()).isEqualTo(10));
    assertThat(on.refused(append("f", "x"))).isInstanceOf(Failure.InvalidLimit.class);
    assertThat(on.refused(edit("f", "0", "00"))).isInstanceOf(Failure.InvalidLimit.class);
    assertThat(on.text("f")).isEqualTo("0123456789");
    on.limits = new FileLimits(100, 9, 1000);
    assertThat(on.refused(copy("f", "g"))).isEqualTo(new Failure.TooLarge(10));
    assertThat(on.refused(move("f", "g"))).isEqualTo(new Failure.TooLarge(10));
    assertThat(on.refused(edit("f", "0", ""))).isEqualTo(new Failure.TooLarge(10));
  }

  @Test
  void writesOnlyWhereAFileCanBe() throws Exception {
    on.written("d/x", "1");
    for (String path : List.of("d", ".", "d/.", "d/../d", "/workspace")) {
      invalid(write(path, "x"));
      invalid(edit(path, "a", "b"));
    }
    conflict(write("d/x/y", "x"));
    conflict(mkdir("d/x"));
    conflict(mkdir("d/x/y"));
    invalid(write("n".repeat(256), "x"));
    assertThat(on.refused(write("new/" + "n".repeat(256), "x")))
        .isInstanceOfSatisfying(
            Failure.Invalid.class, it -> assertThat(it.location()).containsExactly("body", "path"));
    invalid(write("f", "\ud800"));
    for (String base64 : List.of("a===", "YQ", "YWI")) {
      invalid(
          new FileOperation.WriteFile(
              SentPath.of("f"),
              base64,
              ContentEncoding.BASE64,
              FileOperation.WriteMode.OVERWRITE,
              IfMatch.none(),
              IfMatch.none()));
    }
    invalid(mkdir("d/".repeat(300)));
    assertThat(on.everything()).containsExactlyInAnyOrder("d", "d/x");
  }

  @Test
  void appends() {
    assertThat(on.ok(append("l/x", "a\n"), FileAnswer.Mutated.class).size()).isEqualTo(2);
    FileAnswer.Mutated second = on.ok(append("l/x", "b\n"), FileAnswer.Mutated.class);
    assertThat(second.size()).isEqualTo(4);
    assertThat(on.text("l/x")).isEqualTo("a\nb\n");
    assertThat(on.content("l/x").etag()).isEqualTo(second.etag());
  }

  @Test
  void preconditionsGuardEveryChange() throws Exception {
    String etag = on.written("f", "one").etag();
    IfMatch right = IfMatch.parse(etag);
    IfMatch wrong = IfMatch.parse("\"stale\"");
    IfMatch weak = IfMatch.parse("W/" + etag);
    for (IfMatch each : List.of(wrong, weak)) {
      changed(write("f", "x", each));
      changed(new FileOperation.EditFile(SentPath.of("f"), "one", "x", each));
      changed(new FileOperation.PatchFile(SentPath.of("f"), "@@ -1 +1 @@\n-a\n+b\n", each));
      changed(new FileOperation.DeleteFile(SentPath.of("f"), false, each));
      changed(new FileOperation.CopyFile(SentPath.of("f"), SentPath.of("g"), each));
      changed(new FileOperation.MoveFile(SentPath.of("f"), SentPath.of("g"), each));
    }
    for (IfMatch each : List.of(right, IfMatch.parse("*"))) {
      changed(write("missing", "x", each));
      changed(new FileOperation.EditFile(SentPath.of("missing"), "one", "x", each));
      changed(new FileOperation.DeleteFile(SentPath.of("missing"), false, each));
    }
    assertThat(on.everything()).containsExactly("f");
    assertThat(on.text("f")).isEqualTo("one");
    on.ok(
        new FileOperation.CopyFile(SentPath.of("f"), SentPath.of("g"), right),
        FileAnswer.Mutated.class);
    on.ok(write("f", "two", right), FileAnswer.Mutated.class);
    on.ok(write("f", "three", IfMatch.parse("*")), FileAnswer.Mutated.class);
    Files.writeString(on.at("f"), "one");
    on.ok(new FileOperation.DeleteFile(SentPath.of("f"), false, right), FileAnswer.Deleted.class);
    assertThat(on.everything()).containsExactly("g");
  }

  @Test
  void whatMustBeNewReplacesNothing() {
    String etag = on.written("f", "one").etag();
    for (String each : List.of("*", etag, "W/" + etag, "\"stale\", " + etag)) {
      changed(fresh("f", each));
      assertThat(
              on.refused(
                  new FileOperation.Transaction(List.of(write("f", "one"), fresh("f", each)))))
          .isEqualTo(new Failure.InOperation(1, new Failure.FileChanged()));
    }
    assertThat(on.text("f")).isEqualTo("one");
    on.ok(fresh("f", "\"stale\""), FileAnswer.Mutated.class);
    assertThat(on.text("f")).isEqualTo("fresh");
    on.ok(fresh("g", "*"), FileAnswer.Mutated.class);
    changed(fresh("g", "*"));
  }

  private static FileOperation fresh(String path, String ifNoneMatch) {
    return new FileOperation.WriteFile(
        SentPath.of(path),
        "fresh",
        ContentEncoding.UTF_8,
        FileOperation.WriteMode.OVERWRITE,
        IfMatch.none(),
        IfMatch.parseWeak(ifNoneMatch));
  }

  @Test
  void ofWritersWithOneTagExactlyOneWins() throws Exception {
    String etag = on.written("f", "start").etag();
    int writers = 8;
    try (ExecutorService pool = Executors.newFixedThreadPool(writers)) {
      for (int round = 0; round < 25; round++) {
        IfMatch tag = IfMatch.parse(etag);
        List<Callable<Result<FileAnswer>>> tries =
            java.util.stream.IntStream.range(0, writers)
                .mapToObj(
                    i -> (Callable<Result<FileAnswer>>) () -> on.run(write("f", etagless(i), tag)))
                .toList();
        int won = 0;
        for (var each : pool.invokeAll(tries)) {
          switch (each.get()) {
            case Result.Ok<FileAnswer>(FileAnswer.Mutated answer) -> {
              won++;
              etag = answer.etag();
            }
            case Result.Ok<FileAnswer> other -> throw new AssertionError(other);
            case Result.Refused<FileAnswer>(var failure) ->
                assertThat(failure).isEqualTo(new Failure.FileChanged());
          }
        }
        assertThat(won).isEqualTo(1);
        assertThat(on.content("f").etag()).isEqualTo(etag);
      }
    }
  }

  private static String etagless(int writer) {
    return writer + " " + System.nanoTime();
  }

  @Test
  void readersSeeOldOrNewButNothingElse() throws Exception {
    String one = "1".repeat(300_000);
    String two = "2".repeat(400_000);
    on.written("f", one);
    try (ExecutorService pool = Executors.newSingleThreadExecutor()) {
      var writer =
          pool.submit(
              () -> {
                for (int i = 0; i < 100; i++) {
                  on.written("f", i % 2 == 0 ? two : one);
                }
              });
      int reads = 0;
      while (!writer.isDone() || reads == 0) {
        String seen = on.text("f");
        assertThat(seen.equals(one) || seen.equals(two)).isTrue();
        reads++;
      }
      writer.get();
    }
  }

  @Test
  void editsOnePlaceAndShowsIt() {
    on.written("n", "port = 80\nhost = here\n");
    FileAnswer.Mutated edited = on.ok(edit("n", "80", "8080"), FileAnswer.Mutated.class);
    assertThat(edited.diff())
        .isEqualTo("--- a/n\n+++ b/n\n@@ -1,2 +1,2 @@\n-port = 80\n+port = 8080\n host = here\n");
    assertThat(edited.size()).isEqualTo(24);
    assertThat(on.content("n").etag()).isEqualTo(edited.etag());
    assertThat(on.refused(edit("n", "h", "x"))).isEqualTo(new Failure.Ambiguous(List.of(2, 2)));
    assertThat(on.refused(edit("n", "absent", "x"))).isEqualTo(new Failure.Ambiguous(List.of()));
    invalid(edit("n", "", "x"));
    missing(edit("missing", "a", "x"));
    on.written("bin", "a\0b");
    assertThat(on.refused(edit("bin", "a", "x"))).isEqualTo(new Failure.Binary());
    assertThat(on.content("n").etag()).isEqualTo(edited.etag());
  }

  @Test
  void patchesWhatFits() {
    on.written("p", "one\ntwo\n");
    FileAnswer.Mutated patched =
        on.ok(
            patch("p", "@@ -1 +1 @@\n-one\n+ONE\n@@ -2 +2 @@\n-no\n+x\n"),
            FileAnswer.Mutated.class);
    assertThat(patched.appliedHunks()).containsExactly(1);
    assertThat(patched.rejectedHunks()).containsExactly(2);
    assertThat(patched.diff()).contains("-one\n+ONE\n");
    assertThat(on.text("p")).isEqualTo("ONE\ntwo\n");
    FileAnswer.Mutated nothing =
        on.ok(patch("p", "@@ -1 +1 @@\n-one\n+x\n"), FileAnswer.Mutated.class);
    assertThat(nothing.appliedHunks()).isEmpty();
    assertThat(nothing.diff()).isEmpty();
    assertThat(nothing.etag()).isEqualTo(patched.etag());
    invalid(patch("p", "nonsense"));
    missing(patch("missing", "@@ -1 +1 @@\n-one\n+x\n"));
  }

  @Test
  void copiesAndMovesNeverOverwrite() throws Exception {
    FileAnswer.Mutated source = on.written("a", "one");
    on.written("taken", "mine");
    Files.setPosixFilePermissions(on.at("a"), PosixFilePermissions.fromString("rwxr-x---"));
    FileAnswer.Mutated copied = on.ok(copy("a", "x/y/copy"), FileAnswer.Mutated.class);
    assertThat(copied)
        .isEqualTo(new FileAnswer.Mutated("x/y/copy", 3, source.etag(), "", List.of(), List.of()));
    assertThat(Files.getPosixFilePermissions(on.at("x/y/copy")))
        .isEqualTo(PosixFilePermissions.fromString("rwxr-x---"));
    assertThat(on.ok(move("x/y/copy", "m"), FileAnswer.Mutated.class).etag())
        .isEqualTo(source.etag());
    assertThat(on.everything()).containsExactlyInAnyOrder("a", "taken", "x", "x/y", "m");
    Files.createDirectory(on.at("dir"));
    for (String target : List.of("taken", "dir", "a", ".")) {
      conflict(copy("a", target));
      conflict(move("a", target));
    }
    missing(copy("missing", "n/n"));
    missing(move("missing", "n/n"));
    missing(copy("dir", "n/n"));
    missing(move("dir", "n/n"));
    missing(move(".", "n/n"));
    assertThat(on.everything()).containsExactlyInAnyOrder("a", "taken", "x", "x/y", "m", "dir");
    assertThat(on.text("taken")).isEqualTo("mine");
  }

  @Test
  void deletes() throws Exception {
    on.written("made/deep/x", "1");
    on.written("keep", "2");
    invalid(delete("made", false));
    invalid(new FileOperation.DeleteFile(SentPath.of("made"), true, IfMatch.parse("*")));
    for (String root : List.of(".", "./", "keep/..", "/workspace")) {
      invalid(delete(root, true));
    }
    missing(delete("missing", true));
    on.ok(delete("made", true), FileAnswer.Deleted.class);
    on.ok(mkdir("empty/"), FileAnswer.Made.class);
    on.ok(delete("empty", false), FileAnswer.Deleted.class);
    assertThat(on.everything()).containsExactly("keep");
    on.ok(delete("keep", false), FileAnswer.Deleted.class);
    assertThat(on.everything()).isEmpty();
  }

  @Test
  void whatACrashLeftIsPassedOverAndRemoved() throws Exception {
    String debris = ".envapi-" + "0123456789abcdef".repeat(2) + ".tmp";
    on.written("d/f", "x");
    Files.writeString(on.at("d/" + debris), "half");
    Files.writeString(on.at("d/.envapi-mine.tmp"), "a caller's own");
    assertThat(on.paths()).containsExactlyInAnyOrder("d", "d/f", "d/.envapi-mine.tmp");
    on.open().close();
    assertThat(on.everything()).containsExactlyInAnyOrder("d", "d/f", "d/.envapi-mine.tmp");
  }

  @Test
  void afterItIsClosedNothingIsThere() {
    on.written("f", "x");
    on.close();
    missing(read("f"));
    on.close();
  }

  @Test
  void whatIsNotThereIsNotWhatIfMatchSays() {
    var any = IfMatch.parse("*");
    assertThat(on.refused(new FileOperation.CopyFile(SentPath.of("none"), SentPath.of("new"), any)))
        .isInstanceOf(Failure.FileChanged.class);
    assertThat(on.refused(new FileOperation.MoveFile(SentPath.of("none"), SentPath.of("new"), any)))
        .isInstanceOf(Failure.FileChanged.class);
    assertThat(on.refused(Fixture.move("none", "new"))).isInstanceOf(Failure.NotFound.class);
  }

  @Test
  void theDiffOfAnEmptyFileGoesBackAndForth() {
    on.written("file", "");
    FileAnswer.Mutated filled =
        on.ok(Fixture.patch("file", "@@ -0,0 +1,2 @@\n+a\n+b\n"), FileAnswer.Mutated.class);
    assertThat(filled.diff()).contains("@@ -0,0 +1,2 @@");
    FileAnswer.Mutated emptied =
        on.ok(Fixture.patch("file", "@@ -1,2 +0,0 @@\n-a\n-b\n"), FileAnswer.Mutated.class);
    assertThat(emptied.diff()).contains("@@ -1,2 +0,0 @@");
    assertThat(on.ok(Fixture.patch("file", filled.diff()), FileAnswer.Mutated.class).size())
        .isEqualTo(4);
  }
}
