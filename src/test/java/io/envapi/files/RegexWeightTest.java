package io.envapi.files;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.re2j.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RegexWeightTest {

  @ParameterizedTest
  @ValueSource(
      strings = {
        "((a{1000}){1000}){1000}",
        "((a{200}){200}){200}",
        "(?:(?:x{2,300}y){50}){3}",
        "(?P<n>[^]\\]}]{500}){500}",
        "(\\pL{1000}){1000}",
        "([[:alpha:]{(]{1000}){11}",
        "(\\Qa{1000}(\\E{1000}){1000}",
        "(\\x{10FFFF}{,3}b{1000}){1000}",
        "a|(b|(c{999}){12})",
        "((a{0,1000}){1000}",
      })
  void repeatsOfRepeatsAreTooHeavy(String regex) {
    assertThat(RegexWeight.isTooHeavy(regex)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "a{1000}",
        "^\\s*(public|private)\\s+static\\s+[\\w<>\\[\\], ]+\\(",
        "([0-9]{1,3}\\.){3}[0-9]{1,3}",
        "(\\w+\\s){0,1000}",
        "[{1000}]{2}[]{1000}]",
        "\\Q((a{1000}){1000}){1000}\\E",
        "\\(\\(a\\{1000\\}\\)\\{1000\\}\\)",
        "x{a{1000}",
        "(?i)(?:b{1000})",
        ".*.*.*.*.*.*",
      })
  void whatPeopleLookForIsNot(String regex) {
    assertThat(RegexWeight.isTooHeavy(regex)).isFalse();
    Pattern.compile(regex);
  }

  @Test
  void whatIsNoExpressionIsWeighedToo() {
    for (String regex :
        new String[] {"(", ")", "[", "[^", "\\", "\\p{", "a{", "[[:", "(((", "\\Q"}) {
      assertThat(RegexWeight.isTooHeavy(regex)).as(regex).isFalse();
    }
    assertThat(RegexWeight.isTooHeavy("(".repeat(1000))).isFalse();
  }
}
