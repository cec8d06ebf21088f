package io.envapi.files;

import static org.assertj.core.api.Assertions.assertThat;

import io.envapi.linux.Directory;
import io.envapi.linux.FileName;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What .gitignore files ignore: as it is to be, and as the real git has it. */
class GitIgnoreTest {

  /**
   * @param rules the .gitignore files, by their paths
   */
  record Case(Map<String, String> rules, Set<String> kept, Set<String> ignored) {
    @Override
    public String toString() {
      return rules.toString().replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t");
    }
  }

  @TempDir static Path gitDirectory;
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

  /** {@code names} are of files, first those that are kept and after a bar those that are not. */
  private static Case one(String rules, String names) {
    return of(Map.of(".gitignore", rules), names);
  }

  private static Case of(Map<String, String> rules, String names) {
    int bar = names.indexOf(" | ");
    return new Case(rules, split(names.substring(0, bar)), split(names.substring(bar + 3)));
  }

  private static Set<String> split(String names) {
    Set<String> split = new TreeSet<>(Arrays.asList(names.split(", ")));
    split.remove("");
    return split;
  }

  static Stream<Case> cases() {
    return Stream.of(lines(), stars(), brackets(), places(), nested()).flatMap(each -> each);
  }

  private static Stream<Case> lines() {
    return Stream.of(
        one("", "a | "),
        one("\n\n  \n#a\n\\#b\nc#\n", "a, #a | #b, c#"),
        one("!\n/\n//\n", "a, !, b/c | "),
        one("\\!a\n", "a | !a"),
        one("a", "b | a"),
        one("\ufeffa\nb\n", "c | a, b"),
        one("\ufeff#a\n", "a, #a | "),
        one("b\n\ufeffa\n", "a | b"),
        // Blanks at the end, and quoted ones; a tab is none.
        one("a  \nb c \n", "a , b | a, b c"),
        one("a\\ \n", "a | a "),
        one("a\\  \n", "a, a   | a "),
        one("a\\\\ \n", "a | a\\"),
        one("a\t\n", "a | a\t"),
        one(" a\n", "a |  a"),
        // Nothing is quoted.
        one("a\\\n", "a, a\\ | "),
        one("*\\\nb\n", "a, a\\ | b"),
        one("a\\/\n", "a/b, a\\/b | "),
        one("\\a\\*b\n", "axb | a*b"),
        // One carriage return belongs to the end of a line, also of the last.
        one("a\r\nb/\r\nc \r\n\r\nd\r", "e | a, b/x, c, d"),
        one("a\r\r\n", "a | a\r"),
        one("a\rb\n", "a, b | a\rb"),
        one("A\nb\n", "a, B | A, b"),
        // A question mark is one byte.
        one("?\n", "ab, é | a"),
        one("x??\n", "xé1 | xé, xab"));
  }

  private static Stream<Case> stars() {
    return Stream.of(
        one("foo**bar\n", "foo/x/bar, foo/bar | foobar, fooxbar, d/fooxybar"),
        one("/foo**bar\n", "foo/x/bar, d/foobar | foobar, fooxbar"),
        one("*.log\n!keep.log\n", "keep.log, a/keep.log, log | a.log, a/b.log, .log"),
        one("a*/b\n", "b, a/x/b, ax/c/b | a/b, axx/b"),
        one("a/*\n", "b/a | a/b, a/c/d"),
        one("a/*/c\n", "a/c, a/b/d/c | a/b/c"),
        one("**/x\n", "y, xx/y | x, a/x, a/b/x/y"),
        one("/**/x\n", "y | x, a/x"),
        one("**/a/x\n", "a/b/x | a/x, b/a/x"),
        one("x/**\n", "a/x/b, y | x/b, x/c/d"),
        one("x/**/\n", "x/b | x/c/d"),
        one("x/**\n!x/b\n", "x/b | x/c, x/d/b"),
        one("a/**/b\n", "b, ab, c/a/b | a/b, a/x/b, a/x/y/b/c"),
        one("a/***/b\n", "b | a/b, a/x/y/b"),
        one("a/x**/b\n", "a/b, a/y/b | a/x/b, a/xy/b"),
        one("a/**x/b\n", "a/b, a/y/x/b | a/x/b, a/yx/b"),
        one("a/**\\/b\n", "b | a/c/b, a/c/d/b"),
        one("**\n!*/\n!a\n", "a, d/a | b, d/b"),
        one("**/\n", "a | b/c, d/e/f"),
        one("a**\n", "ba, b/c | a, ab, b/ax"),
        one("*\n!a**\n", "a, ab | b, ad/b, ad/d/ab"),
        one("*\n!/a**\n", "a, ab, ad/b, ad/d/e | b, d/ab"),
        one("foo**/bar\n", "foo/z, x/foobar | foobar, foo/bar, foox/bar, foo/x/y/bar"),
        one("?oo**/bar\n", "foobar, foo/x/bar | foo/bar, foox/bar"),
        one("***\n", " | a, b/c"));
  }

  private static Stream<Case> brackets() {
    return Stream.of(
        one("a[!z]b\n", "a/b, azb, ab | axb"),
        one("d/a[!z]b\n", "d/a/b, d/azb | d/axb"),
        one("a[/]b\n", "a/b | "),
        one("a[+-9]b\n", "a/b | a5b, a.b"),
        one("[!]]x\n", "]x, x | ax"),
        one("[]]x\n", "ax | ]x"),
        one("[]-a]x\n", "bx | ]x, ^x, ax"),
        one("[^a]x\n", "ax | bx, ^x"),
        one("[a^]x\n", "bx | ax, ^x"),
        one("a[\\]]b\n", "a\\b | a]b"),
        one("a[\\\\]b\n", "axb | a\\b"),
        one("a[\\!x]b\n", "ayb | a!b, axb"),
        one("[a-c]\n", "d, A, ab, - | a, b, c"),
        one("[c-a]\n", "a, b | c"),
        one("[a-]\n[-b]x\n", "b, cx | a, -, -x, bx"),
        one("[a-c-e]\n", "d | a, c, -, e"),
        one("[\\a-\\c]\n", "d | a, b, c"),
        one("[[]\n", "a | ["),
        one("[[a]b\n", "cb | [b, ab"),
        one("[.*+(]x\n", "ax | .x, *x, +x, (x"),
        // Without an end it is no pattern.
        one("[\n[a\n[]\n[!]\n[a\\]\n", "[, [a, [], [!], a, [a] | "),
        one("[é]x\n", "éx | "),
        one("[[:digit:]]x\n", "ax, :x, dx | 1x"),
        one("[![:digit:]]x\n", "1x | ax"),
        one("[[:alpha:]_-]x\n", "1x, éx | ax, Zx, _x, -x"),
        one("[[:alnum:]]x\n", "_x | ax, 1x, Zx"),
        one("[[:upper:]]x\n", "ax | Ax"),
        one("[[:lower:]]x\n", "Ax | ax"),
        one("[[:blank:]]x\n", "ax, \rx |  x, \tx"),
        one("z[[:space:]]x\n", "zax, z\u000bx, z\fx | z x, z\tx, z\rx, z\nx"),
        one("[[:cntrl:]]x\n", "ax | \u0001x, \u007fx, \tx"),
        one("z[[:print:]]x\n", "z\u0001x, z\tx | zax, z x, z~x"),
        one("z[[:graph:]]x\n", "z\u0001x, z x | zax, z!x"),
        one("[[:punct:]]x\n", "ax, 1x | !x, ~x, _x, [x"),
        one("[[:xdigit:]]x\n", "gx, Gx | ax, Fx, 9x"),
        one("[[:digit:][:upper:]z]x\n", "ax | 1x, Ax, zx"),
        one("[[:digit]x\n", "1x | [x, :x, dx"),
        one("[[:none:]]x\na[a[:none:]]\n", "nx, aa, [x | "),
        one("[[:]x\n", "ax | [x, :x"),
        one("[a-[:digit:]]x\n", "1x, ax | a]x, t]x, :]x"));
  }

  private static Stream<Case> places() {
    return Stream.of(
        one("/a\n", "b/a | a"),
        one("a/b\n", "c/a/b | a/b/c"),
        one("/a/\n", "b/a/c | a/b"),
        one("a/\n", "a, b/c | d/a/b"),
        one("a//\n", "a/b | "),
        one("a/b/\n", "a/b, a/c | "),
        one("a/b/\n", "c/a/b/d | a/b/c"),
        one("./a\n", "a | "),
        // What is below a directory that is ignored stays so.
        one("a/\n!a/b\n", "c | a/b"),
        one("/*\n!/a\n/a/*\n!/a/b\n", "a/b/c | x, a/c, d/e"),
        one("*\n!*.c\n", "a.c | a, d/a.c"),
        one("*\n!*/\n!*.c\n", "a.c, d/a.c | a, d/a"),
        one("a\n!a\na\n!a\n", "a, b/a | "),
        one("!a\na\n", " | a"));
  }

  private static Stream<Case> nested() {
    return Stream.of(
        of(Map.of("d/.gitignore", "a\n/b\n"), "a, b, d/e/b | d/a, d/e/a, d/b"),
        of(Map.of(".gitignore", "*.x\n", "d/.gitignore", "!a.x\n"), "d/a.x, d/e/a.x | a.x, d/b.x"),
        of(Map.of(".gitignore", "!a\n", "d/.gitignore", "a\n"), "a | d/a"),
        of(Map.of(".gitignore", "d/\n", "d/.gitignore", "!*\n"), "e | d/a"),
        of(Map.of("d/.gitignore", "e/f\n*/g\n"), "e/f, d/x/e/f, d/g | d/e/f, d/e/g"),
        of(Map.of("d/.gitignore", "*\n", "d/e/.gitignore", "!*\n"), "a | d/b, d/e/c"));
  }

  @ParameterizedTest
  @MethodSource("cases")
  void ignores(Case each) {
    prepare(each);
    assertThat(kept()).isEqualTo(each.kept());
  }

  @ParameterizedTest
  @MethodSource("cases")
  void gitIgnoresTheSame(Case each) throws Exception {
    RealGit git = new RealGit(workspace.files, gitDirectory);
    prepare(each);
    assertThat(git.kept()).isEqualTo(each.kept());
  }

  @Test
  void whateverThePatternGitIgnoresTheSame() throws Exception {
    RealGit git = new RealGit(workspace.files, gitDirectory);
    for (String each :
        "a, b, ab, a-b, a]b, [, d/a, d/ab, d/d/a, d/d/b, d/b/a/b, ad/b, ad/d/ab, x/ab/d/a, x/b]/a"
            .split(", ")) {
      write(each);
    }
    Random random = new Random(7);
    for (int round = 0; round < 150; round++) {
      String rules = rules(random);
      Files.writeString(workspace.at(".gitignore"), rules);
      assertThat(kept()).as(rules).isEqualTo(git.kept());
    }
  }

  private static String rules(Random random) {
    List<String> parts =
        List.of("a", "b", "d", "*", "**", "/", "/", "/**/", "?", "[", "]", "[!a]", "[a-d]", "\\");
    StringBuilder rules = new StringBuilder();
    for (int line = random.nextInt(3); line >= 0; line--) {
      rules.append(random.nextInt(5) == 0 ? "!" : "");
      for (int part = random.nextInt(6); part >= 0; part--) {
        rules.append(parts.get(random.nextInt(parts.size())));
      }
      rules.append('\n');
    }
    return rules.toString();
  }

  @Test
  void gitsOwnIsPassedOverWhateverItIs() {
    prepare(one("", "a, d/.gitx, .git/config, d/.git | "));
    assertThat(kept()).containsExactlyInAnyOrder("a", "d/.gitx");
  }

  @Test
  void directoriesThatTheWalkHasLeftTakeNoMemory() {
    try (Directory top = Directory.open(workspace.files)) {
      var root = new WorkspaceRoot(top, workspace.uid, workspace.uid, List.of());
      var ignore = new GitIgnore(root, List.of());
      long before = usedHeap();
      for (int i = 0; i < 12; i++) {
        workspace.written(i + "/.gitignore", large(i));
        FileName name = FileName.of(Integer.toString(i));
        assertThat(ignore.ignores(top, List.of(name), true)).isFalse();
        try (Directory in = top.openDirectory(name)) {
          assertThat(ignore.ignores(in, List.of(name, FileName.of("hidden" + i)), false)).isTrue();
          assertThat(ignore.ignores(in, List.of(name, FileName.of("other")), false)).isFalse();
        }
      }
      // Compiled, one file takes about 20 MiB.
      assertThat(usedHeap() - before).isLessThan(100 << 20);
      assertThat(ignore.ignores(top, List.of(FileName.of("other")), false)).isFalse();
    }
  }

  private static long usedHeap() {
    System.gc();
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }

  @Test
  void rulesAboveADirectoryLeaveNoRoomForMoreThanTheyMay() {
    String path = "";
    for (String name : List.of("a", "b", "c", "d")) {
      workspace.written(path + ".gitignore", large(path.length()));
      workspace.written(path + "hidden" + path.length(), "needle");
      path += name + "/";
    }
    assertThat(kept()).containsExactly("a/b/c/hidden6", "a/b/hidden4");
    assertThat(kept("a/b/c")).containsExactly("a/b/c/hidden6");
  }

  /** As large as may be, and ignores {@code hidden} with that number. */
  private static String large(int number) {
    String rule = "[!a-z]" + "x?".repeat(58) + "\n";
    return "hidden" + number + "\n" + rule.repeat(255_000 / rule.length());
  }

  private void prepare(Case each) {
    each.rules().forEach(workspace::written);
    each.kept().forEach(this::write);
    each.ignored().forEach(this::write);
  }

  /** Written so, a backslash is none of the path's slashes. */
  private void write(String name) {
    byte[] path = name.getBytes(StandardCharsets.UTF_8);
    workspace.ok(
        new FileOperation.WriteFile(
            SentPath.ofBase64(Base64.getEncoder().encodeToString(path)),
            "needle",
            ContentEncoding.UTF_8,
            FileOperation.WriteMode.OVERWRITE,
            IfMatch.none(),
            IfMatch.none()),
        FileAnswer.Mutated.class);
  }

  private Set<String> kept() {
    return kept(".");
  }

  private Set<String> kept(String start) {
    FileOperation.Search search =
        new FileOperation.Search(
            "needle",
            SentPath.of(start),
            Optional.empty(),
            10,
            FileOperation.SearchMode.FILES_WITH_MATCHES,
            1000,
            0,
            0,
            1 << 20,
            false,
            true);
    Set<String> kept = new TreeSet<>();
    workspace.ok(search, FileAnswer.Found.class).matches().forEach(m -> kept.add(m.path()));
    return kept;
  }
}
