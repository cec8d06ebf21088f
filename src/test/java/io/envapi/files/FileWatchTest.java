package io.envapi.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.envapi.failure.Failure;
import io.envapi.failure.Result;
import io.envapi.linux.Directory;
import io.envapi.linux.FileName;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is told of changes; the kernel has an event as soon as the change is made. */
class FileWatchTest {

  @TempDir Path temp;
  private Fixture workspace;

  @BeforeEach
  void open() throws Exception {
    workspace = new Fixture(temp);
  }

  @AfterEach
  void close() {
    workspace.close();
  }

  /** A reader that goes on from what it was told last. */
  private final class Watch {
    private final String transfer;
    private long number;

    Watch(String path, int depth) {
      var opened = ok(new TransferStep.OpenWatch(SentPath.of(path), depth));
      transfer = ((TransferAnswer.Watching) opened).transfer();
    }

    Result<TransferAnswer> after(long last) {
      return transfer(new TransferStep.Watch(transfer, last));
    }

    /** What is new, in short. */
    List<String> told() {
      var changes =
          ((TransferAnswer.Changes) ok(new TransferStep.Watch(transfer, number))).changes();
      if (!changes.isEmpty()) {
        number = changes.getLast().number();
      }
      return changes.stream().map(FileWatchTest::shown).toList();
    }
  }

  private static String shown(TransferAnswer.Change change) {
    String kind = change.kind().name().toLowerCase(java.util.Locale.ROOT);
    return kind + " " + change.path() + change.from().map(from -> " <- " + from).orElse("");
  }

  private Result<TransferAnswer> transfer(TransferStep step) {
    return workspace.tree.transfer(step, workspace.limits);
  }

  private TransferAnswer ok(TransferStep step) {
    return switch (transfer(step)) {
      case Result.Ok<TransferAnswer>(var answer) -> answer;
      case Result.Refused<TransferAnswer>(var failure) ->
          throw new AssertionError(step + " was refused: " + failure);
    };
  }

  private static Failure refused(Result<TransferAnswer> result) {
    return switch (result) {
      case Result.Ok<TransferAnswer>(var answer) -> throw new AssertionError("not: " + answer);
      case Result.Refused<TransferAnswer>(var failure) -> failure;
    };
  }

  private void make(String... directories) throws Exception {
    for (String each : directories) {
      Files.createDirectories(workspace.at(each));
    }
  }

  private void touch(String... files) throws Exception {
    for (String each : files) {
      Files.createFile(workspace.at(each));
    }
  }

  private void move(String from, String to) throws Exception {
    Files.move(workspace.at(from), workspace.at(to), StandardCopyOption.ATOMIC_MOVE);
  }

  private void exchange(String one, String other) {
    try (Directory files = Directory.open(workspace.files)) {
      files.exchange(FileName.of(one), files, FileName.of(other));
    }
  }

  @Test
  void whatHappensInAMovedDirectoryIsToldUnderItsNewName() throws Exception {
    make("a/b");
    var watch = new Watch(".", 10);
    move("a", "c");
    touch("c/n1", "c/b/n2");
    make("c/b/d");
    touch("c/b/d/n3");
    assertThat(watch.told())
        .containsExactly(
            "moved c <- a", "created c/n1", "created c/b/n2", "created c/b/d", "created c/b/d/n3");
    touch("c/b/d/n4");
    assertThat(watch.told()).containsExactly("created c/b/d/n4");
  }

  @Test
  void aDirectoryCanBeMovedAgainAndBack() throws Exception {
    make("r1/k", "in");
    var watch = new Watch(".", 10);
    move("r1", "r2");
    move("r2", "r3");
    touch("r3/k/f");
    assertThat(watch.told()).containsExactly("moved r2 <- r1", "moved r3 <- r2", "created r3/k/f");
    move("r3", "in/r4");
    touch("in/r4/k/g");
    move("in/r4", "r3");
    touch("r3/k/h");
    assertThat(watch.told())
        .containsExactly(
            "moved in/r4 <- r3", "created in/r4/k/g", "moved r3 <- in/r4", "created r3/k/h");
  }

  @Test
  void aNewDirectoryThatIsMovedAtOnceIsNotConfusedWithItsSuccessor() throws Exception {
    var watch = new Watch(".", 10);
    for (int i = 0; i < 3; i++) {
      make("new/below");
      touch("new/below/f" + i);
      move("new", "done" + i);
    }
    make("new");
    assertThat(watch.told())
        .containsSubsequence("moved done0 <- new", "created done0/below", "created done0/below/f0")
        .contains("created done1/below/f1", "created done2/below/f2")
        .endsWith("created new")
        .noneMatch(told -> told.startsWith("overflow"));
    touch("new/x", "done0/x", "done1/below/x", "done2/x");
    assertThat(watch.told())
        .containsExactly(
            "created new/x", "created done0/x", "created done1/below/x", "created done2/x");
  }

  @Test
  void exchangedDirectoriesAreBothWatched() throws Exception {
    make("x1/one", "x2/two");
    var watch = new Watch(".", 10);
    exchange("x1", "x2");
    touch("x2/one/later1", "x1/two/later2");
    assertThat(watch.told())
        .containsExactly(
            "moved x2 <- x1", "moved x1 <- x2", "created x2/one/later1", "created x1/two/later2");
    exchange("x1", "x2");
    exchange("x2", "x1");
    exchange("x1", "x2");
    assertThat(watch.told()).hasSize(6).noneMatch(told -> told.startsWith("overflow"));
    touch("x1/one/a", "x2/two/b");
    assertThat(watch.told()).containsExactly("created x1/one/a", "created x2/two/b");
  }

  @Test
  void aNewDirectoryIsWatchedWhereItIsExchangedTo() throws Exception {
    make("old/k");
    var watch = new Watch(".", 10);
    make("new/n");
    exchange("old", "new");
    assertThat(watch.told())
        .containsExactly("created new", "moved new <- old", "moved old <- new", "created old/n");
    touch("new/k/f", "old/n/f");
    assertThat(watch.told()).containsExactly("created new/k/f", "created old/n/f");
  }

  @Test
  void aWatchedDirectoryThatMovesIntoANewOneIsWatchedThere() throws Exception {
    make("a/b/c", "d");
    touch("a/b/c/f");
    var watch = new Watch(".", 10);
    make("d/new");
    move("a/b", "d/new/b");
    assertThat(watch.told())
        .startsWith("created d/new", "created d/new/b", "deleted a/b")
        .contains("created d/new/b/c", "created d/new/b/c/f");
    touch("d/new/b/c/g");
    assertThat(watch.told()).containsExactly("created d/new/b/c/g");
  }

  @Test
  void aDirectoryCanBeExchangedWithAFile() throws Exception {
    make("d/k");
    touch("f");
    var watch = new Watch(".", 10);
    exchange("d", "f");
    touch("f/k/a");
    assertThat(watch.told()).containsExactly("moved f <- d", "moved d <- f", "created f/k/a");
    exchange("d", "f");
    touch("d/k/b");
    assertThat(watch.told()).containsExactly("moved f <- d", "moved d <- f", "created d/k/b");
  }

  @Test
  void whatIsExchangedWithSomethingOutsideIsThere() throws Exception {
    make("in/x/old", "x/new");
    var watch = new Watch("in", 10);
    try (Directory files = Directory.open(workspace.files);
        Directory in = Directory.open(workspace.at("in"))) {
      files.exchange(FileName.of("x"), in, FileName.of("x"));
    }
    assertThat(watch.told()).containsExactly("created in/x", "created in/x/new");
    touch("in/x/new/f", "x/old/f");
    assertThat(watch.told()).containsExactly("created in/x/new/f");
  }

  @Test
  void aDirectoryMovedOverAnotherTakesItsPlace() throws Exception {
    make("a/k", "b");
    var watch = new Watch(".", 10);
    move("a", "b");
    move("b", "a");
    touch("a/k/f");
    assertThat(watch.told()).containsExactly("moved b <- a", "moved a <- b", "created a/k/f");
  }

  @Test
  void movesAcrossTheBorderOfTheWatchAreToldAsSuch() throws Exception {
    make("in/gone/k", "out/come/k");
    touch("out/come/k/f");
    var watch = new Watch("in", 10);
    move("in/gone", "out/gone");
    move("out/come", "in/come");
    touch("out/gone/k/unseen", "in/come/k/seen");
    assertThat(watch.told())
        .startsWith("deleted in/gone", "created in/come", "created in/come/k")
        .contains("created in/come/k/f", "created in/come/k/seen")
        .noneMatch(told -> told.contains("unseen") || told.startsWith("overflow"));
  }

  @Test
  void aMoveChangesHowDeepADirectoryIs() throws Exception {
    make("a/b/c", "d/e/f");
    touch("d/e/f/deep");
    var watch = new Watch(".", 2);
    move("a", "d/a");
    touch("d/a/seen", "d/a/b/unseen");
    assertThat(watch.told()).containsExactly("moved d/a <- a", "created d/a/seen");
    move("d/e", "e");
    touch("e/f/new");
    assertThat(watch.told())
        .startsWith("moved e <- d/e")
        .contains("created e/f/deep", "created e/f/new")
        .hasSize(3);
    move("d/a/b", "b");
    touch("b/c/new");
    assertThat(watch.told())
        .startsWith("moved b <- d/a/b")
        .contains("created b/unseen", "created b/c", "created b/c/new")
        .noneMatch(told -> told.startsWith("overflow"));
  }

  @Test
  void aWatchEndsWithItsDirectory() throws Exception {
    make("d");
    touch("d/f");
    var watch = new Watch("d", 10);
    Files.delete(workspace.at("d/f"));
    Files.delete(workspace.at("d"));
    make("d");
    touch("d/x");
    assertThat(watch.told()).containsExactly("deleted d/f", "deleted d");
    assertThat(refused(watch.after(watch.number)))
        .isEqualTo(new Failure.NotFound(Failure.Kind.FILE, "d"));
    assertThat(refused(watch.after(watch.number))).isInstanceOf(Failure.Conflict.class);
  }

  @Test
  void aWatchEndsWhenItsDirectoryIsHeldButGone() throws Exception {
    make("d");
    touch("d/f");
    var watch = new Watch("d", 10);
    try (Directory held = Directory.open(workspace.at("d"))) {
      Files.delete(workspace.at("d/f"));
      Files.delete(workspace.at("d"));
      assertThat(watch.told()).containsExactly("deleted d/f", "deleted d");
      assertThat(refused(watch.after(watch.number))).isInstanceOf(Failure.NotFound.class);
      assertThat(held.stat().links()).isZero();
    }
  }

  @Test
  void aWatchEndsWhenItsPathLeadsElsewhere() throws Exception {
    make("p/d");
    var watch = new Watch("p/d", 10);
    var above = new Watch("p/d", 10);
    touch("p/d/before");
    assertThat(above.told()).containsExactly("created p/d/before");
    move("p/d", "p/old");
    make("p/d");
    touch("p/old/ghost");
    assertThat(watch.told()).containsExactly("created p/d/before", "deleted p/d");
    assertThat(refused(watch.after(watch.number))).isInstanceOf(Failure.NotFound.class);

    var again = new Watch("p/d", 10);
    touch("p/d/before");
    move("p", "q");
    make("p/d");
    touch("q/d/ghost");
    assertThat(again.told()).containsExactly("created p/d/before", "deleted p/d");
    assertThat(above.told()).containsExactly("deleted p/d");
  }

  @Test
  void writesInARowAreOneChangeAndNothingIsLost() throws Exception {
    touch("busy");
    var watch = new Watch(".", 10);
    for (int i = 0; i < 5; i++) {
      Files.writeString(workspace.at("busy"), "x");
      assertThat(watch.told()).containsExactly("modified busy");
    }
    assertThat(watch.told()).isEmpty();
    touch("other");
    assertThat(watch.told()).containsExactly("created other");
  }

  @Test
  void whatIsNoLongerKeptIsSaidToBeLost() throws Exception {
    var watch = new Watch(".", 10);
    touch("first");
    assertThat(watch.told()).containsExactly("created first");
    for (int i = 0; i < 4_200; i++) {
      touch("f" + i);
    }
    List<String> told = watch.told();
    assertThat(told).startsWith("overflow .").hasSize(4_097).endsWith("created f4199");
    assertThat(watch.told()).isEmpty();
  }

  @Test
  void aNumberThatWasNeverToldIsUnknown() throws Exception {
    var watch = new Watch(".", 10);
    touch("before");
    watch.number = 99_999;
    assertThat(watch.told()).containsExactly("overflow .");
    touch("after");
    assertThat(watch.told()).containsExactly("created after");
  }

  /** In one read: the kernel gives the value to the first read only. */
  private static int mostQueued() throws Exception {
    try (var value = Files.newBufferedReader(Path.of("/proc/sys/fs/inotify/max_queued_events"))) {
      return Integer.parseInt(value.readLine());
    }
  }

  @Test
  void whatTheKernelLostIsLookedForAnew() throws Exception {
    make("a/k", "noise");
    touch("noise/0");
    var watch = new Watch(".", 10);
    for (int i = 0; i < mostQueued() / 2 + 10; i++) {
      move("noise/" + i, "noise/" + (i + 1));
    }
    move("a", "b");
    make("new/below");
    assertThat(watch.told()).contains("overflow .").noneMatch(told -> told.endsWith(" new"));
    touch("b/k/f", "new/below/f");
    assertThat(watch.told()).containsExactly("created b/k/f", "created new/below/f");
  }

  @Test
  void anAbandonedWatchMakesRoomForAnother() throws Exception {
    var used = new Watch(".", 0);
    for (int i = 1; i < 8; i++) {
      new Watch(".", 0);
    }
    var open = new TransferStep.OpenWatch(SentPath.of("."), 0);
    assertThat(refused(transfer(open))).isInstanceOf(Failure.QuotaExceeded.class);
    List<Result<TransferAnswer>> opened = new ArrayList<>();
    await()
        .atMost(Duration.ofSeconds(30))
        .until(
            () -> {
              used.told();
              opened.add(transfer(open));
              return opened.getLast() instanceof Result.Ok<TransferAnswer>;
            });
    touch("f");
    assertThat(used.told()).containsExactly("created f");
  }
}
