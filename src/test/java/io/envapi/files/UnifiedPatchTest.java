package io.envapi.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.envapi.failure.Failure;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class UnifiedPatchTest {

  private static final String FILE = "one\ntwo\nthree\nfour\nfive\n";

  @Test
  void appliesWhatFitsAndNamesTheRest() {
    String patch =
        """
        --- old/name
        +++ new/name
        @@ -1,2 +1,2 @@
         one
        -two
        +TWO
        @@ -4 +4 @@ a section
        -not there
        +never
        @@ -5 +5,2 @@
         five
        +six
        """;
    TextLines text = new TextLines(FILE);
    UnifiedPatch.Applied applied = UnifiedPatch.parse(patch).apply(text);
    assertThat(applied.applied()).containsExactly(1, 3);
    assertThat(applied.rejected()).containsExactly(2);
    assertThat(TextChange.apply(text, applied.changes()))
        .isEqualTo("one\nTWO\nthree\nfour\nfive\nsix\n");
    assertThat(TextChange.diff("p", text, applied.changes()))
        .startsWith("--- a/p\n+++ b/p\n@@ -1,5 +1,6 @@\n")
        .contains("\n-two\n+TWO\n")
        .contains("\n+six\n");
  }

  @Test
  void takesWhatGitWrites() {
    String patch =
        """
        diff --git a/f b/f
        old mode 100644
        new mode 100755
        index 5626abf..814f4a4 100644
        --- a/f
        +++ b/f
        @@ -1 +1 @@
        -one
        +ONE
        """;
    assertThat(UnifiedPatch.parse(patch).apply(new TextLines(FILE)).applied()).containsExactly(1);
  }

  @ParameterizedTest
  @CsvSource({
    // An insertion goes behind the line it names.
    "'a\nb\n', '@@ -1,0 +2 @@\n+x\n', 'a\nx\nb\n'",
    "'a\nb\n', '@@ -0,0 +1 @@\n+x\n', 'x\na\nb\n'",
    "'a\nb\n', '@@ -2,0 +3 @@\n+x\n', 'a\nb\nx\n'",
    "'', '@@ -0,0 +1,2 @@\n+x\n+y\n', 'x\ny\n'",
    "'a\nb\n', '@@ -1,2 +0,0 @@\n-a\n-b\n', ''",
    // Without the last line feed, on either side.
    "'a\nb', '@@ -2 +2 @@\n-b\n\\ No newline at end of file\n+c\n', 'a\nc\n'",
    "'a\nb\n', '@@ -2 +2 @@\n-b\n+c\n\\ No newline at end of file\n', 'a\nc'",
    "'a\nb', '@@ -1,2 +1,2 @@\n-a\n+x\n b\n\\ No newline at end of file', 'x\nb'",
    // The patch itself may end without one; a blank line is an empty line of context.
    "'a\nb\n', '@@ -2 +2 @@\n-b\n+c', 'a\nc\n'",
    "'a\n\nb\n', '@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n', 'a\n\nc\n'",
    // Carriage returns are content.
    "'a\r\nb\r\n', '@@ -1 +1 @@\n-a\r\n+x\r\n', 'x\r\nb\r\n'",
    "'a\r\nb\n', '@@ -1,2 +1,2 @@\n-a\r\n-b\n+a\n+b\r\n', 'a\nb\r\n'",
    "'a\r\nb\r', '@@ -2 +2 @@\n-b\r\n\\ No newline at end of file\n+c\n', 'a\r\nc\n'",
  })
  void applies(String before, String patch, String after) {
    TextLines text = new TextLines(before);
    UnifiedPatch.Applied applied = UnifiedPatch.parse(patch).apply(text);
    assertThat(applied.rejected()).isEmpty();
    assertThat(TextChange.apply(text, applied.changes())).isEqualTo(after);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        // There is no fuzz: not one line off, not a blank, not a line feed.
        "@@ -2 +2 @@\n-one\n+x\n",
        "@@ -1 +1 @@\n-one \n+x\n",
        "@@ -5 +5 @@\n-five\n\\ No newline at end of file\n+x\n",
        "@@ -5,2 +5 @@\n five\n-six\n",
        "@@ -9,0 +9 @@\n+x\n",
        "@@ -1 +1 @@\n-one\n+x\n\\ No newline at end of file\n",
      })
  void rejectsWhatDoesNotFit(String patch) {
    UnifiedPatch.Applied applied = UnifiedPatch.parse(patch).apply(new TextLines(FILE));
    assertThat(applied.applied()).isEmpty();
    assertThat(applied.changes()).isEmpty();
    assertThat(applied.rejected()).containsExactly(1);
  }

  @ParameterizedTest
  @CsvSource({
    "'a\nb\nc\n', '@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n', 'a\nx\nc\n'",
    "'a\n\nb\n', '--- f\n+++ f\n@@ -1,3 +1,2 @@ a\n-a\n\n b\n', '\nb\n'",
    "'a\nb', '@@ -2 +2 @@\n-b\n\\ No newline at end of file\n+c\n', 'a\nc\n'",
    "'a\nb\n', '@@ -2 +2 @@\n-b\n+c\n\\ No newline at end of file\n', 'a\nc'",
    "'a\nb', '@@ -1,2 +1,2 @@\n-a\n+x\n b\n\\ No newline at end of file', 'x\nb'",
    "'a\n', '@@ -1 +1,2 @@\n a\n+c', 'a\nc\n'",
    "'a\n', 'diff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n@@ -1 +0,0 @@\n-a\n', ''",
    "'a\n', 'Index: f\n=====\n@@ -1 +0,0 @@\n-a\n-- \n2.39.5\n\n', ''",
  })
  void appliesWithCarriageReturnsThroughout(String before, String patch, String after) {
    TextLines text = new TextLines(before.replace("\n", "\r\n"));
    UnifiedPatch.Applied applied = UnifiedPatch.parse(patch.replace("\n", "\r\n")).apply(text);
    assertThat(applied.rejected()).isEmpty();
    assertThat(TextChange.apply(text, applied.changes())).isEqualTo(after.replace("\n", "\r\n"));
  }

  @Test
  void aPatchCutBetweenCarriageReturnAndLineFeedIsWhole() {
    TextLines text = new TextLines("a\r\n");
    UnifiedPatch.Applied applied = UnifiedPatch.parse("@@ -1 +1 @@\r\n-a\r\n+b\r").apply(text);
    assertThat(TextChange.apply(text, applied.changes())).isEqualTo("b\r\n");
  }

  @ParameterizedTest
  @CsvSource({
    "'a\nb\n', '@@ -1 +1 @@\r\n-a\r\n+x\r\n'",
    "'a\r\nb\r\n', '@@ -1 +1 @@\n-a\n+x\n'",
    "'a\n\nb\n', '@@ -1,3 +1,2 @@\r\n-a\n\r\n b\n'",
  })
  void lineEndsThatDifferDoNotFit(String before, String patch) {
    UnifiedPatch.Applied applied = UnifiedPatch.parse(patch).apply(new TextLines(before));
    assertThat(applied.applied()).isEmpty();
    assertThat(applied.rejected()).containsExactly(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"\u2028", "a\u0085b", "\u2029 {", "a\rb", " @@ -1 +1 @@"})
  void aSectionIsAnyText(String section) {
    String patch = "@@ -1 +1 @@ " + section + "\n-one\n+x\n";
    assertThat(UnifiedPatch.parse(patch).apply(new TextLines(FILE)).applied()).containsExactly(1);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "diff --git a/f b/f\nindex 5626abf..814f4a4 100644\n--- a/f\n+++ b/f\n",
        "diff --git a/f\u2028 b/f\u2028\nold mode 100644\nnew mode 100755\nindex 1..2\n--- a/f\n+++ b/f\n",
        "diff --git a/f b/f\nsimilarity index 90%\n--- a/f\n+++ b/f\n",
        "diff -u -r1.1 f\n--- f\t2026-01-01 00:00:00.0 +0000\n+++ f\t2026-01-01 00:00:00.1 +0000\n",
        "diff -ru a/f b/f\n",
        "Index: f\n===================================================================\n--- f\n+++ f\n",
        "Index: f\n=====\ndiff --git a/f b/f\n--- a/f\n+++ b/f\n",
        "From 0123456789abcdef0123456789abcdef01234567 Mon Sep 17 00:00:00 2001\nFrom: A <a@b>\n"
            + "Subject: [PATCH] x\n\n@@ -1 +1 @@\n-any\n+text\n---\n f | 2 +-\n\n"
            + "diff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n",
        "--- /dev/null\n+++ any name\n",
      })
  void whatComesBeforeTheHunksIsPassedOver(String before) {
    String hunk = "@@ -1 +1 @@\n-one\n+x\n";
    for (String after :
        List.of("", "-- \n2.39.5\n\n", "--\n2.39.5 (Apple Git-154)", "-- \n2.43.0\n")) {
      UnifiedPatch.Applied applied =
          UnifiedPatch.parse(before + hunk + after).apply(new TextLines(FILE));
      assertThat(applied.applied()).containsExactly(1);
      assertThat(TextChange.apply(new TextLines(FILE), applied.changes())).startsWith("x\ntwo\n");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "'diff --git a/f b/f\nnew file mode 100644\nindex 0..1\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+x\n', it has new file mode",
    "'diff --git a/f b/f\ndeleted file mode 100644\n--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n', it has deleted file mode",
    "'diff --git a/f b/g\nsimilarity index 100%\nrename from f\nrename to g\n', it has rename from",
    "'diff --git a/f b/g\r\nsimilarity index 100%\r\ncopy from f\r\ncopy to g\r\n', it has copy from",
    "'--- a\n+++ a\n@@ -1 +1 @@\n-one\n+x\n--- b\n+++ b\n@@ -2 +2 @@\n-two\n+y\n', more than one file",
    "'--- a\n+++ a\n@@ -1 +1 @@\n-one\n+x\ndiff --git a/b b/b\nnew file mode 100644\n', more than one file",
    "'--- a\n+++ a\n@@ -1 +1 @@\n-one\n+x\nIndex: b\n', more than one file",
    "'diff --git a/a b/a\nold mode 1\nnew mode 2\ndiff --git a/b b/b\n@@ -1 +1 @@\n-one\n+x\n', more than one file",
    "'diff --git a/a b/a\nold mode 1\nnew mode 2\n', it has no hunk",
    "'From 0123456789abcdef0123456789abcdef01234567 Mon\n\n@@ -1 +1 @@\n-one\n+x\n', it has no hunk",
    // A line that is deleted, and one the header does not count, is not the end of a mail.
    "'@@ -1 +1 @@\n-one\n+x\n-- \n', line 4 is no hunk header",
    "'@@ -1 +1 @@\n-one\n+x\n-- \n+2.0\n', line 4 is no hunk header",
    "'-- \n2.39.5\n', line 1 is no hunk header",
    "'@@ -1 +1 @@\n-one\n+x\n-- \n2.39.5\n@@ -2 +2 @@\n-two\n+y\n', line 4 is no hunk header",
  })
  void saysWhyItIsRefused(String patch, String why) {
    assertThatThrownBy(() -> UnifiedPatch.parse(patch))
        .isInstanceOfSatisfying(
            Refusal.class,
            e -> assertThat(((Failure.Invalid) e.failure()).message()).contains(why));
  }

  @Test
  void nothingFollowsALineThatIsOpen() {
    TextLines open = new TextLines("a\nb");
    assertThat(UnifiedPatch.parse("@@ -2,0 +3 @@\n+x\n").apply(open).rejected()).containsExactly(1);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "nonsense",
        "--- a\n",
        "--- a\n@@ -1 +1 @@\n-one\n+x\n",
        "--- a\n+++ b\n",
        "@@ -1 +1 @@\n",
        "@@ -1,2 +1 @@\n-one\n+x\n",
        "@@ -1 +1 @@\n-one\n-two\n+x\n",
        "@@ -1 +1 @@\n-one\n+x\n+y\n",
        "@@ -1 +1 @@\n*one\n+x\n",
        "@@ -0 +1 @@\n-one\n+x\n",
        "@@ -x +1 @@\n-one\n+x\n",
        "@@ -1 +1\n-one\n+x\n",
        "@@ -1,2 +1,2 @@\n one\n-two\n+x\n@@ -2 +2 @@\n-two\n+y\n",
        "@@ -3 +3 @@\n-three\n+x\n@@ -1 +1 @@\n-one\n+y\n",
        "\\ No newline at end of file\n",
        "@@ -1 +1 @@\n\\ No newline at end of file\n-one\n+x\n",
        "@@ -1 +1 @@\n-one\n+x\n--- a\n+++ b\n@@ -2 +2 @@\n-two\n+y\n",
        "@@ -9999999999 +1 @@\n-one\n+x\n",
        "@@ -999999999,999999999 +1 @@\n-one\n+x\n",
      })
  void refusesWhatIsMalformed(String patch) {
    assertThatThrownBy(() -> UnifiedPatch.parse(patch))
        .isInstanceOfSatisfying(
            Refusal.class,
            e ->
                assertThat(e.failure())
                    .isInstanceOfSatisfying(
                        Failure.Invalid.class,
                        i -> assertThat(i.location()).containsExactly("body", "patch")));
  }

  @Test
  void whateverIsChangedTheDiffMakesTheSame() {
    Random random = new Random(11);
    for (int round = 0; round < 2000; round++) {
      TextLines text = new TextLines(lines(random, random.nextInt(30)));
      List<TextChange> changes = changes(random, text);
      String after = TextChange.apply(text, changes);
      String diff = TextChange.diff("f", text, changes);
      if (diff.isEmpty()) {
        assertThat(after).isEqualTo(text.text());
        continue;
      }
      UnifiedPatch.Applied applied = UnifiedPatch.parse(diff).apply(text);
      assertThat(applied.rejected()).as(diff).isEmpty();
      assertThat(TextChange.apply(text, applied.changes())).as(diff).isEqualTo(after);
    }
  }

  private static List<TextChange> changes(Random random, TextLines text) {
    List<TextChange> changes = new ArrayList<>();
    int at = 0;
    while (at < text.size()) {
      int from = at + random.nextInt(8);
      int to = from + random.nextInt(4);
      if (to > text.size()) {
        break;
      }
      changes.add(new TextChange(from, to, new TextLines(lines(random, random.nextInt(4)))));
      at = to + 1;
    }
    return changes;
  }

  private static String lines(Random random, int count) {
    StringBuilder lines = new StringBuilder();
    for (int i = 0; i < count; i++) {
      lines.append("abc".charAt(random.nextInt(3))).append('\n');
    }
    return lines.toString();
  }
}
