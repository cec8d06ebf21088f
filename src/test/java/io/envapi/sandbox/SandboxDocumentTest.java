package io.envapi.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.provider.MethodSource;

/** What {@code docs/sandbox.md} promises of a tier is what its test tries at that tier. */
class SandboxDocumentTest {

  private static final Pattern ROW =
      Pattern.compile(
          "^\\| .* \\| (stopped|–) \\| (stopped|–) \\| (stopped|–) \\| `(\\w+)\\.(\\w+)` \\|$",
          Pattern.MULTILINE);

  @Test
  void everyPromiseIsATest() throws IOException {
    List<MatchResult> rows =
        ROW.matcher(Files.readString(Path.of("docs/sandbox.md"))).results().toList();
    assertThat(rows).hasSizeGreaterThan(15);
    for (MatchResult row : rows) {
      List<String> promised =
          Stream.of(SandboxTier.values())
              .filter(tier -> row.group(tier.ordinal() + 1).equals("stopped"))
              .map(SandboxTier::label)
              .toList();
      assertThat(tried(row.group(4), row.group(5))).as(row.group()).isEqualTo(promised);
    }
  }

  private static List<String> tried(String type, String method) {
    Class<?> tests;
    try {
      tests = Class.forName(SandboxDocumentTest.class.getPackageName() + "." + type);
    } catch (ClassNotFoundException e) {
      return List.of("no such class");
    }
    for (Method test : tests.getDeclaredMethods()) {
      if (test.getName().equals(method)) {
        MethodSource source = test.getAnnotation(MethodSource.class);
        String tiers = source == null ? "" : source.value()[0];
        if (tiers.endsWith("Tiers#all")) {
          return List.of("directory", "user", "namespace");
        }
        return tiers.endsWith("Tiers#confined")
            ? List.of("user", "namespace")
            : List.of("namespace");
      }
    }
    return List.of("no such test");
  }
}
