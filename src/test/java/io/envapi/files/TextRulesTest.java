package io.envapi.files;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.envapi.failure.Failure;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The rules that need no files: what is text, what a glob and a precondition match. */
class TextRulesTest {

  @Test
  void agreesWithTheJdkOnWhatIsText() {
    Random random = new Random(7);
    int texts = 0;
    for (int i = 0; i < 200_000; i++) {
      byte[] bytes = bytes(random);
      boolean expected = isText(bytes);
      texts += expected ? 1 : 0;
      Utf8Scan scan = new Utf8Scan();
      int cut = random.nextInt(bytes.length + 1);
      scan.accept(bytes, 0, cut).accept(bytes, cut, bytes.length - cut);
      assertThat(scan.isText())
          .as("%s cut at %d", java.util.Arrays.toString(bytes), cut)
          .isEqualTo(expected);
    }
    assertThat(texts).isBetween(1000, 199_000);
  }

  private static byte[] bytes(Random random) {
    byte[] bytes = new byte[random.nextInt(20)];
    int[] likely = {
      0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc1, 0xc2, 0xe0, 0xed, 0xf0, 0xf4, 0xf5
    };
    if (random.nextBoolean()) {
      String text =
          random
              .ints(bytes.length, 1, 0x10ffff)
              .filter(c -> c < 0xd800 || c > 0xdfff)
              .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
              .toString();
      bytes = text.getBytes(UTF_8);
      if (bytes.length > 0 && random.nextInt(4) == 0) {
        bytes[random.nextInt(bytes.length)] = (byte) likely[random.nextInt(likely.length)];
      }
      return bytes;
    }
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) likely[random.nextInt(likely.length)];
    }
    return bytes;
  }

  private static boolean isText(byte[] bytes) {
    try {
      return UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString().indexOf('\0') < 0;
    } catch (CharacterCodingException e) {
      return false;
    }
  }

  @Test
  void aNulAnywhereIsNoText() {
    for (int at = 0; at < 40; at++) {
      byte[] bytes = "x".repeat(40).getBytes(UTF_8);
      bytes[at] = 0;
      assertThat(new Utf8Scan().accept(bytes, 0, 40).isText()).isFalse();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "*.py, a.py, true",
    "*.py, a.PY, false",
    "*.py, dir/a.py, true",
    "a/b/*.py, a/b/two.py, true",
    "a/b/*.py, a/b/c/three.py, true",
    "a/b/*.py, a/one.py, false",
    "?, é, true",
    "?, ab, false",
    "[a-c]x, bx, true",
    "[!a-c]x, bx, false",
    "[!a-c]x, dx, true",
    "[]]x, ]x, true",
    "[x, [x, true",
    "[a-]x, -x, true",
    "**/x, x, true",
    "**/x, a/b/x, true",
    "**/x, ax, false",
    "src/**/x, src/x, true",
    "src/**/x, src/a/b/x, true",
    "src/**/x, srcx, false",
    "a**b, a/b, true",
    "'', '', true",
    "'', a, false",
    "*, '', true",
    "a.b, axb, false",
    "\\*, \\a, true",
  })
  void globs(String pattern, String text, boolean matches) {
    assertThat(Glob.of(pattern).matches(text)).isEqualTo(matches);
  }

  @Test
  void globsTakeNoLongerThanPatternTimesText() {
    String text = "a".repeat(5000) + "b";
    assertThat(Glob.of("*a".repeat(200) + "c").matches(text)).isFalse();
    assertThat(Glob.of("**/".repeat(50) + "c").matches("a/".repeat(2000))).isFalse();
  }

  private static boolean holds(String header, Optional<String> etag) {
    try {
      IfMatch.parse(header).check(etag);
      return true;
    } catch (Refusal e) {
      assertThat(e.failure()).isEqualTo(new Failure.FileChanged());
      return false;
    }
  }

  @Test
  void preconditions() {
    Optional<String> etag = Optional.of("\"abc\"");
    for (String header :
        List.of(
            "\"abc\"",
            "*",
            " * ",
            "\"x\", \"abc\" , \"y\"",
            "\"x\",\"abc\"",
            "W/\"abc\", \"abc\"")) {
      assertThat(holds(header, etag)).as(header).isTrue();
    }
    for (String header : List.of("W/\"abc\"", "\"x\"", "abc", "", "\"ab\"c\"", "\"x\", *")) {
      assertThat(holds(header, etag)).as(header).isFalse();
    }
    for (String header : List.of("*", "\"abc\"", "")) {
      assertThat(holds(header, Optional.empty())).as(header).isFalse();
    }
    IfMatch.none().check(Optional.empty());
  }

  @ParameterizedTest
  @CsvSource({
    "'port = 80\nhost\n', 80, 8080, 'port = 8080\nhost\n'",
    "'a\nb\nc\n', 'b\n', '', 'a\nc\n'",
    "'a\nb\nc\n', '\nb', '', 'a\nc\n'",
    "'a\nb', b, 'b\n', 'a\nb\n'",
    "'a\nb\n', 'b\n', b, 'a\nb'",
    "'a\nb\n', '\n', '', ''",
    "ab, ab, '', ''",
    "'one\ntwo\nthree\n', 'e\ntwo\nt', E, 'onEhree\n'",
    "'one\ntwo\n', 'one\n', x, 'xtwo\n'",
  })
  void edits(String before, String old, String replacement, String after) {
    TextLines text = new TextLines(before);
    if (old.equals("\n") && before.indexOf('\n') != before.lastIndexOf('\n')) {
      assertThatThrownBy(() -> TextEdit.of(text, old, replacement)).isInstanceOf(Refusal.class);
      return;
    }
    TextChange change = TextEdit.of(text, old, replacement);
    assertThat(TextChange.apply(text, List.of(change))).isEqualTo(after);
    // The diff, applied as a patch, makes the same text.
    String diff = TextChange.diff("f", text, List.of(change));
    if (!diff.isEmpty()) {
      UnifiedPatch.Applied applied = UnifiedPatch.parse(diff).apply(text);
      assertThat(applied.rejected()).as(diff).isEmpty();
      assertThat(TextChange.apply(text, applied.changes())).as(diff).isEqualTo(after);
    }
  }

  @Test
  void anEditNamesEveryPlace() {
    TextLines text = new TextLines("x = 1\ny\nx = x = 2\n");
    assertThatThrownBy(() -> TextEdit.of(text, "x = ", "z"))
        .isInstanceOfSatisfying(
            Refusal.class,
            e -> assertThat(e.failure()).isEqualTo(new Failure.Ambiguous(List.of(1, 3, 3))));
    assertThatThrownBy(() -> TextEdit.of(text, "absent", "z"))
        .isInstanceOfSatisfying(
            Refusal.class,
            e -> assertThat(e.failure()).isEqualTo(new Failure.Ambiguous(List.of())));
    assertThatThrownBy(() -> TextEdit.of(new TextLines("aaa"), "aa", "b"))
        .isInstanceOf(Refusal.class);
  }
}
