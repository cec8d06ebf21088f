package io.envapi.files;

import static org.assertj.core.api.Assertions.assertThat;

import io.envapi.failure.Failure;
import io.envapi.failure.Result;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class WorkspacePathTest {

  private static final List<String> INSIDE = List.of("/workspace", "/srv/envs/e1/");

  private static Result<WorkspacePath> parse(SentPath path) {
    return WorkspacePath.parse(path, INSIDE, "query", "path");
  }

  private static WorkspacePath parsed(String path) {
    return switch (parse(SentPath.of(path))) {
      case Result.Ok<WorkspacePath>(var value) -> value;
      case Result.Refused<WorkspacePath>(var failure) -> throw new AssertionError(failure);
    };
  }

  @ParameterizedTest
  @CsvSource({
    "., .",
    "./, .",
    "a, a",
    "a/, a",
    "a//b/./c, a/b/c",
    "a/../b, b",
    "a/b/../.., .",
    "keep/.., .",
    "a\\b, a/b",
    ".\\a\\..\\b, b",
    "/workspace, .",
    "/workspace/, .",
    "//workspace//a, a",
    "/workspace/a/../b, b",
    "/srv/envs/e1/x, x",
    "%2e%2e/x, %2e%2e/x",
    "..., ...",
    "..a/b.., ..a/b..",
  })
  void resolvesByItsText(String path, String shown) {
    assertThat(parsed(path).shown()).isEqualTo(shown);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "..",
        "../x",
        "a/../..",
        "a/../../x",
        "./../x",
        "/",
        "/etc/passwd",
        "/etc/../etc/passwd",
        "/workspace/..",
        "/workspace/../workspace/x",
        "/workspace2",
        "/work",
        "/srv/envs/e1x/y",
        "/srv/envs",
        "..\\..\\etc",
        "\\..\\x",
        "\\etc\\passwd",
        "a\0b",
      })
  void refusesWhatLeadsOut(String path) {
    assertThat(parse(SentPath.of(path)))
        .isEqualTo(Result.refused(new Failure.PathOutsideWorkspace(path)));
  }

  @Test
  void refusesWhatIsNoPath() {
    for (SentPath each :
        List.of(
            SentPath.of(""),
            SentPath.of("\ud800"),
            SentPath.of("x".repeat(WorkspacePath.LONGEST + 1)),
            SentPath.of("a/../".repeat(WorkspacePath.MOST_CROSSED + 1)),
            SentPath.ofBase64("***"))) {
      assertThat(parse(each))
          .isInstanceOfSatisfying(
              Result.Refused.class,
              refused ->
                  assertThat(refused.failure())
                      .isInstanceOfSatisfying(
                          Failure.Invalid.class,
                          invalid ->
                              assertThat(invalid.location()).containsExactly("query", "path")));
    }
  }

  @Test
  void remembersWhatDotsUndo() {
    assertThat(parsed("a/b/../../c/../d").crossed().stream().map(ShownName::path))
        .containsExactly("a/b", "c");
    assertThat(parsed("a/./b").crossed()).isEmpty();
  }

  @Test
  void takesBytesThatNoTextHas() {
    byte[] path = {'a', '\\', (byte) 0xff, '/', 'b'};
    Result<WorkspacePath> result =
        parse(SentPath.ofBase64(Base64.getEncoder().encodeToString(path)));
    assertThat(result)
        .isInstanceOfSatisfying(
            Result.Ok.class,
            ok -> {
              WorkspacePath value = (WorkspacePath) ok.value();
              assertThat(value.names()).hasSize(2);
              assertThat(value.names().getFirst().bytes()).containsExactly('a', '\\', 0xff);
              assertThat(value.shown()).isEqualTo("a\\x5c\\xff/b");
              assertThat(ShownName.base64(value.names().getFirst())).contains("YVz/");
              assertThat(ShownName.base64(value.name())).isEmpty();
            });
  }
}
