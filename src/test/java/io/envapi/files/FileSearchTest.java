package io.envapi.files;

import static io.envapi.files.Fixture.list;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.envapi.failure.Failure;
import io.envapi.linux.Directory;
import io.envapi.linux.FileName;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Searching and listing. */
class FileSearchTest {

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

  static FileOperation.Search search(String pattern) {
    return search(pattern, ".", Optional.empty(), 10, 0, 0);
  }

  private static FileOperation.Search search(
      String pattern, String path, Optional<String> glob, int depth, int before, int after) {
    return new FileOperation.Search(
        pattern,
        SentPath.of(path),
        glob,
        depth,
        FileOperation.SearchMode.CONTENT,
        100,
        before,
        after,
        1 << 20,
        false,
        false);
  }

  private FileAnswer.Found found(FileOperation.Search search) {
    return on.ok(search, FileAnswer.Found.class);
  }

  @Test
  void findsLiteralLinesWithThoseAround() {
    on.written("src/a.py", "import os\nx = a.c  # TODO\nend\n");
    on.written("src/b.txt", "abc TODO\r\n");
    FileAnswer.Found found = found(search("TODO", ".", Optional.empty(), 10, 1, 1));
    assertThat(found.totalMatches()).isEqualTo(2);
    assertThat(found.truncated()).isFalse();
    assertThat(found.complete()).isTrue();
    assertThat(found.matches())
        .containsExactly(
            new FileAnswer.Match(
                "src/a.py",
                List.of(
                    new FileAnswer.Line(1, "import os", false, 9),
                    new FileAnswer.Line(2, "x = a.c  # TODO", true, 15),
                    new FileAnswer.Line(3, "end", false, 3))),
            new FileAnswer.Match(
                "src/b.txt", List.of(new FileAnswer.Line(1, "abc TODO", true, 8))));
    assertThat(found(search("a.c")).totalMatches()).isEqualTo(1);
    assertThat(found(search("todo")).totalMatches()).isZero();
    assertThat(found(search("os\nx")).totalMatches()).isZero();
    Optional<String> glob = Optional.of("*.txt");
    assertThat(found(search("TODO", ".", glob, 10, 0, 0)).totalMatches()).isEqualTo(1);
    assertThat(found(search("TODO", "src", Optional.empty(), 0, 0, 0)).totalMatches()).isEqualTo(2);
    assertThat(found(search("TODO", ".", Optional.empty(), 0, 0, 0)).totalMatches()).isZero();
    assertThat(found(search("TODO", "src/a.py", Optional.empty(), 0, 0, 0)).totalMatches())
        .isEqualTo(1);
    assertThat(on.refused(search("x", "missing", Optional.empty(), 0, 0, 0)))
        .isInstanceOf(Failure.NotFound.class);
    assertThat(on.refused(search(""))).isInstanceOf(Failure.Invalid.class);
  }

  @Test
  void numbersLinesWhereverTheMatchesAre() {
    on.written("f", "\n\nhit\n\nhit hit\nx\n\u00e9 hit");
    assertThat(found(search("hit")).matches())
        .extracting(m -> m.lines().getFirst())
        .containsExactly(
            new FileAnswer.Line(3, "hit", true, 3),
            new FileAnswer.Line(5, "hit hit", true, 7),
            new FileAnswer.Line(7, "\u00e9 hit", true, 5));
    on.written("g", "hit");
    assertThat(found(search("hit", "g", Optional.empty(), 0, 20, 20)).matches().getFirst().lines())
        .containsExactly(new FileAnswer.Line(1, "hit", true, 3));
    on.written("h", "\nhit\n\n");
    assertThat(found(search("hit", "h", Optional.empty(), 0, 20, 20)).matches().getFirst().lines())
        .containsExactly(
            new FileAnswer.Line(1, "", false, 0),
            new FileAnswer.Line(2, "hit", true, 3),
            new FileAnswer.Line(3, "", false, 0));
  }

  @Test
  void reportsEveryLimit() throws Exception {
    StringBuilder many = new StringBuilder();
    for (int i = 0; i < 20; i++) {
      many.append("hit ").append(i).append('\n');
    }
    on.written("many.txt", many.toString());
    Files.write(on.at("b.bin"), new byte[] {'h', 'i', 't', 0});
    on.written("large.txt", "hit\n" + "x".repeat(3000));
    on.written("long.txt", "y".repeat(2500) + " hit\n");
    FileAnswer.Found limited =
        found(
            new FileOperation.Search(
                "hit",
                SentPath.of("."),
                Optional.empty(),
                10,
                FileOperation.SearchMode.CONTENT,
                5,
                0,
                0,
                2900,
                false,
                false));
    assertThat(limited.matches()).hasSize(5);
    assertThat(limited.totalMatches()).isEqualTo(21);
    assertThat(limited.truncated()).isTrue();
    assertThat(limited.skippedBinary()).containsExactly("b.bin");
    assertThat(limited.skippedLarge()).containsExactly("large.txt");
    assertThat(limited.skippedUnavailable()).isEmpty();
    FileAnswer.Line line =
        found(search("hit", "long.txt", Optional.empty(), 0, 0, 0))
            .matches()
            .getFirst()
            .lines()
            .getFirst();
    assertThat(line).isEqualTo(new FileAnswer.Line(1, "y".repeat(2000), true, 2504));
    FileAnswer.Found files =
        found(
            new FileOperation.Search(
                "hit",
                SentPath.of("."),
                Optional.empty(),
                10,
                FileOperation.SearchMode.FILES_WITH_MATCHES,
                2,
                0,
                0,
                1 << 20,
                false,
                false));
    assertThat(files.totalMatches()).isEqualTo(3);
    assertThat(files.truncated()).isTrue();
    assertThat(files.matches())
        .containsExactly(
            new FileAnswer.Match("large.txt", List.of()),
            new FileAnswer.Match("long.txt", List.of()));
  }

  @Test
  void listsByDepthAndGlob() throws Exception {
    for (String path : List.of("top.py", "top.txt", "a/one.py", "a/b/two.py", "a/b/c/three.py")) {
      on.written(path, "x");
    }
    assertThat(paths(list(".", 0))).containsExactly("a", "top.py", "top.txt");
    assertThat(paths(list(".", 1))).containsExactly("a", "a/b", "a/one.py", "top.py", "top.txt");
    assertThat(paths(list(".", 10, "*.py")))
        .containsExactly("a/b/c/three.py", "a/b/two.py", "a/one.py", "top.py");
    assertThat(paths(list(".", 10, "a/b/*.py")))
        .contains("a/b/two.py")
        .doesNotContain("a/one.py", "top.py");
    assertThat(paths(list("a", 3, "*.PY"))).isEmpty();
    assertThat(paths(list("a", 0))).containsExactly("a/b", "a/one.py");
    FileAnswer.Entry row =
        on.ok(list(".", 0, "top.py"), FileAnswer.Listing.class).entries().getFirst();
    assertThat(row.size()).isEqualTo(1);
    assertThat(row.mode()).isEqualTo(0644);
    assertThat(row.uid()).isEqualTo(on.uid);
    assertThat(row.mtimeMicros())
        .isEqualTo(Files.getLastModifiedTime(on.at("top.py")).to(TimeUnit.MICROSECONDS));
    assertThat(on.refused(list("missing", 0))).isInstanceOf(Failure.NotFound.class);
    assertThat(on.refused(list("top.py", 0))).isInstanceOf(Failure.NotFound.class);
    assertThat(on.refused(list("top.py/x", 0))).isInstanceOf(Failure.NotFound.class);
  }

  private List<String> paths(FileOperation.ListDirectory list) {
    return on.ok(list, FileAnswer.Listing.class).entries().stream()
        .map(FileAnswer.Entry::path)
        .toList();
  }

  @Test
  void pagesContinueExactly() {
    for (String path : List.of("a/b/c", "a/b/d", "a/e", "a!", "b", "c/d/e/f", "c.x", "z")) {
      on.written(path, "x");
    }
    List<String> whole = paths(list(".", 10));
    for (int size = 1; size <= whole.size(); size++) {
      List<String> paged = new ArrayList<>();
      Optional<String> cursor = Optional.empty();
      do {
        FileAnswer.Listing page =
            on.ok(
                new FileOperation.ListDirectory(
                    SentPath.of("."), Optional.empty(), 10, size, cursor),
                FileAnswer.Listing.class);
        page.entries().forEach(row -> paged.add(row.path()));
        cursor = page.nextCursor();
      } while (cursor.isPresent());
      assertThat(paged).as("pages of %d", size).isEqualTo(whole);
    }
    assertThat(
            on.refused(
                new FileOperation.ListDirectory(
                    SentPath.of("."), Optional.empty(), 0, 1, Optional.of("!"))))
        .isInstanceOf(Failure.Invalid.class);
  }

  @Test
  void aLargeDirectoryIsListedWholeAndInOrder() throws Exception {
    List<String> names = IntStream.range(0, 2500).mapToObj(i -> "file-" + i).sorted().toList();
    try (Directory directory = Directory.open(on.files)) {
      for (String each : names) {
        directory.createFile(FileName.of(each)).close();
      }
      var all = new FileOperation.ListDirectory(SentPath.of("."), none(), 0, 100_000, none());
      assertThat(paths(all)).isEqualTo(names);
      var first = new FileOperation.ListDirectory(SentPath.of("."), none(), 0, 1030, none());
      FileAnswer.Listing page = on.ok(first, FileAnswer.Listing.class);
      assertThat(page.entries()).hasSize(1030);

      // What went before the next page is missing in it, and nothing else.
      directory.unlink(FileName.of(names.get(1029)));
      directory.unlink(FileName.of(names.get(1500)));
      var rest =
          new FileOperation.ListDirectory(SentPath.of("."), none(), 0, 1469, page.nextCursor());
      List<String> left = new ArrayList<>(names.subList(1030, 2500));
      left.remove(names.get(1500));
      assertThat(paths(rest)).isEqualTo(left);
    }
  }

  private static Optional<String> none() {
    return Optional.empty();
  }

  @Test
  void entriesThatGoWhileTheyAreListedAreLeftOut() throws Exception {
    try (Directory directory = Directory.open(on.files)) {
      for (int round = 0; round < 5; round++) {
        List<String> names = IntStream.range(0, 2000).mapToObj(i -> "file-" + i).toList();
        for (String each : names) {
          directory.createFile(FileName.of(each)).close();
        }
        var started = new CountDownLatch(1);
        Thread deleting =
            Thread.ofPlatform()
                .start(
                    () -> {
                      for (String each : names) {
                        directory.unlink(FileName.of(each));
                        started.countDown();
                      }
                    });
        started.await();
        var all = new FileOperation.ListDirectory(SentPath.of("."), none(), 0, 100_000, none());
        assertThat(names).containsAll(paths(all));
        deleting.join();
        assertThat(paths(list(".", 0))).isEmpty();
      }
    }
  }

  @Test
  void everyNameCanBeAddressed() throws Exception {
    List<byte[]> names =
        List.of(
                "a\nb",
                "q\"'",
                "-rf",
                "*",
                " ",
                "\u001b[31m",
                "\u00ff\u00fe",
                "back\\slash",
                "\\xff",
                "n".repeat(255))
            .stream()
            .map(name -> name.getBytes(ISO_8859_1))
            .collect(Collectors.toCollection(ArrayList::new));
    names.add("\ud83d\ude00".getBytes("UTF-8"));
    try (Directory directory = Directory.open(on.files)) {
      for (byte[] name : names) {
        try (var file = directory.createFile(FileName.of(name))) {
          file.chown(on.uid, on.uid);
          file.write(name, 0, name.length, 0);
        }
      }
    }
    var rows = on.ok(list(".", 0), FileAnswer.Listing.class).entries();
    assertThat(rows).hasSize(names.size());
    assertThat(rows)
        .extracting(FileAnswer.Entry::name)
        .contains("\\xff\\xfe", "back\\slash", "a\nb", "\ud83d\ude00");
    for (FileAnswer.Entry row : rows) {
      SentPath path = row.nameBase64().map(SentPath::ofBase64).orElse(SentPath.of(row.path()));
      FileAnswer.Content content =
          on.ok(new FileOperation.ReadFile(path, 0, 1000), FileAnswer.Content.class);
      byte[] bytes =
          content.binary()
              ? Base64.getDecoder().decode(content.content())
              : content.content().getBytes("UTF-8");
      assertThat(names).as(row.name()).anySatisfy(name -> assertThat(name).isEqualTo(bytes));
      assertThat(content.path()).isEqualTo(row.path());
      on.ok(new FileOperation.DeleteFile(path, false, IfMatch.none()), FileAnswer.Deleted.class);
    }
    assertThat(on.files).isEmptyDirectory();
  }
}
