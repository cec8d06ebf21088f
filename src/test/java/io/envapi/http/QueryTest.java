package io.envapi.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class QueryTest {

  @Test
  void valuesAreDecodedOnce() {
    assertThat(read("path=a%2520b+c%26%3D%C3%A9&x", query -> query.text("path")))
        .contains(Optional.of("a%20b c&=\u00e9"));
    assertThat(read("x", query -> query.text("x"))).contains(Optional.of(""));
    assertThat(read("", query -> query.text("x"))).contains(Optional.empty());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"x=%", "x=%4", "x=%zz", "x=%ff", "x=%C3", "%ff=x", "x=%-1", "x=%\u0664\u0661"})
  void whatIsNotEncodedProperlyIsAFault(String raw) {
    assertThat(read(raw, query -> query.text("x"))).isEmpty();
  }

  @Test
  void theLastOfSeveralCounts() {
    assertThat(read("n=1&n=2", query -> query.integer("n", 0, 0, 9))).contains(2L);
    assertThat(read("l=a&l=b", query -> query.all("l"))).contains(List.of("a", "b"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"x", "", "1.5", "0x1", " 1", "-1", "11", "99999999999999999999", "\u0661", "true"})
  void whatIsNoIntegerWithinTheBoundsIsAFault(String value) {
    assertThat(read("n=" + value, query -> query.integer("n", 5, 0, 10))).isEmpty();
  }

  @Test
  void booleansHaveFourSpellings() {
    assertThat(read("b=true", query -> query.flag("b", false))).contains(true);
    assertThat(read("b=1", query -> query.flag("b", false))).contains(true);
    assertThat(read("b=0", query -> query.flag("b", true))).contains(false);
    assertThat(read("", query -> query.flag("b", true))).contains(true);
    assertThat(read("b=perhaps", query -> query.flag("b", true))).isEmpty();
    assertThat(read("b=", query -> query.flag("b", true))).isEmpty();
  }

  @Test
  void choicesAndRequiredTextAreChecked() {
    assertThat(read("s=a", query -> query.choice("s", Map.of("a", 1)))).contains(Optional.of(1));
    assertThat(read("s=b", query -> query.choice("s", Map.of("a", 1)))).isEmpty();
    assertThat(read("", query -> query.requiredText("s"))).isEmpty();
    assertThat(read("s=", query -> query.requiredText("s"))).isEmpty();
  }

  /** What was read; empty when the query has a fault. */
  private static <T> Optional<T> read(String raw, Function<Query, T> reader) {
    return switch (Bodies.readQuery(raw, reader)) {
      case Bodies.Read.Accepted<T>(var value) -> Optional.of(value);
      case Bodies.Read.Rejected<T>(var problem) -> {
        assertThat(problem.status()).isEqualTo(422);
        assertThat(problem.members().get("errors")).isNotEmpty();
        yield Optional.empty();
      }
    };
  }
}
