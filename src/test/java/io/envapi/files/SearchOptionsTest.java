package io.envapi.files;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.envapi.failure.Failure;
import io.envapi.failure.Result;
import io.envapi.linux.Directory;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Regular expressions, and what git ignores. */
class SearchOptionsTest {

  private static final String HEAVY = "(?:a{0,900}){1}b";

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

  private static FileOperation.Search search(String pattern, boolean regex, boolean gitignore) {
    return search(pattern, ".", regex, gitignore);
  }

  private static FileOperation.Search ignoring(String start) {
    return search("needle", start, false, true);
  }

  private static FileOperation.Search search(
      String pattern, String start, boolean regex, boolean gitignore) {
    return new FileOperation.Search(
        pattern,
        SentPath.of(start),
        Optional.empty(),
        10,
        FileOperation.SearchMode.CONTENT,
        100,
        0,
        0,
        1 << 20,
        regex,
        gitignore);
  }

  private List<String> found(FileOperation.Search search) {
    return workspace.ok(search, FileAnswer.Found.class).matches().stream()
        .map(m -> m.path() + ":" + m.lines().getFirst().line())
        .toList();
  }

  @Test
  void anExpressionThatNoMemoryHoldsIsRefused() {
    workspace.written("f", "a\n");
    assertThat(workspace.refused(search("((a{1000}){1000}){1000}", true, false)))
        .isInstanceOf(Failure.Invalid.class);
  }

  @Test
  void anExpressionIsNotTriedForLongerThanThereIsTime() {
    var over = new Deadline(System.nanoTime() - 1, () -> false);
    var lines = new LineSearch(search(HEAVY, true, false), over);
    assertThatThrownBy(() -> lines.find("aaaa\n".getBytes(UTF_8), 1))
        .isInstanceOf(TimedText.TimeIsUp.class);
  }

  @Test
  @Timeout(20)
  void aSearchEndsWhenItsWorkspaceIsClosed() throws Exception {
    workspace.written("f", "a".repeat(1_000_000));
    var found = new CompletableFuture<Result<FileAnswer>>();
    Thread searching =
        Thread.ofPlatform().start(() -> found.complete(workspace.run(search(HEAVY, true, false))));
    await()
        .until(
            () ->
                Stream.of(searching.getStackTrace())
                    .anyMatch(frame -> frame.getClassName().equals(LineSearch.class.getName())));
    workspace.tree.close();
    assertThat(found.join())
        .isInstanceOfSatisfying(
            Result.Ok.class,
            ok -> assertThat(((FileAnswer.Found) ok.value()).complete()).isFalse());
  }

  @Test
  void aSearchEndsInTimeWhereThereAreOnlyDirectories() {
    workspace.ok(Fixture.mkdir("a/b"), FileAnswer.Made.class);
    try (Directory directory = Directory.open(workspace.files)) {
      var root = new WorkspaceRoot(directory, workspace.uid, workspace.uid, List.of());
      assertThat(FileSearch.search(root, search("x", false, false), () -> true).complete())
          .isFalse();
      assertThat(FileSearch.search(root, search("x", false, false), () -> false).complete())
          .isTrue();
    }
  }

  @Test
  void anExpressionIsTriedOnEachLine() {
    workspace.written("a", "café 12\r\nab\ncaf 7");
    assertThat(found(search("^caf\\S* \\d+$", true, false))).containsExactly("a:1", "a:3");
    assertThat(found(search("é", true, false))).containsExactly("a:1");
    assertThat(found(search("b\\s+c", true, false))).isEmpty();
    assertThat(found(search("\\d+$", false, false))).isEmpty();
    assertThat(workspace.refused(search("(", true, false))).isInstanceOf(Failure.Invalid.class);
    assertThat(workspace.refused(search("(a)\\1", true, false)))
        .isInstanceOf(Failure.Invalid.class);
  }

  @Test
  void anEvilExpressionTakesLinearTime() {
    workspace.written("a", "a".repeat(20_000) + "!");
    assertThat(found(search("(a*)*b", true, false))).isEmpty();
  }

  @Test
  void whatGitIgnoresIsPassedOver() {
    workspace.written(
        ".gitignore", "# comment\n*.log\n!keep.log\n/build\nnode_modules/\ndoc/**/gen\n");
    for (String each :
        List.of(
            "a.log",
            "keep.log",
            "build/x",
            "src/build/x",
            "node_modules/m/x",
            "src/node_modules/x",
            "src/node_modulesx",
            "doc/gen",
            "doc/a/b/gen",
            "gen",
            ".git/config",
            "sub/only",
            "only")) {
      workspace.written(each, "needle");
    }
    workspace.written("sub/.gitignore", "only\n");
    assertThat(found(search("needle", false, true)))
        .containsExactlyInAnyOrder(
            "keep.log:1", "src/build/x:1", "src/node_modulesx:1", "gen:1", "only:1");
    assertThat(found(search("needle", false, false))).hasSize(13);
  }

  @Test
  void whatIsSaidAboveTheStartOfASearchCountsUpToTheTopOfTheRepository() {
    workspace.written(".gitignore", "*.log\n/repository/a/anchored\n*.tmp\n");
    workspace.written("sub/.gitignore", "!b.tmp\n");
    for (String each : List.of("a.log", "b.tmp", "c")) {
      workspace.written("sub/deep/" + each, "needle");
      workspace.written("repository/deep/" + each, "needle");
    }
    workspace.written("repository/.gitignore", "/deep/c\n");
    workspace.written("repository/.git/HEAD", "ref");
    assertThat(found(ignoring("sub/deep"))).containsExactly("sub/deep/b.tmp:1", "sub/deep/c:1");
    assertThat(found(ignoring("repository/deep")))
        .containsExactly("repository/deep/a.log:1", "repository/deep/b.tmp:1");
    assertThat(found(ignoring("repository"))).hasSize(2);
  }
}
