package io.envapi.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BodiesTest {

  @ParameterizedTest
  @ValueSource(
      strings = {
        "not json",
        "{'a': 1}",
        "{\"a\": }",
        "{\"a\": 1",
        "{\"a\": 1} x",
        "[]",
        "null",
        "5",
        "\"text\"",
        " ",
        "{\"a\": 1e999999999999}x",
        "{\"a\": 01}"
      })
  void whatIsNoJsonObjectIsOneFault(String body) {
    Problem problem = rejected(body, fields -> fields.text("name"));

    assertThat(problem.status()).isEqualTo(422);
    assertThat(faults(problem)).hasSize(1);
    assertThat(faults(problem).getFirst().get("loc").toString()).isEqualTo("[\"body\"]");
  }

  @Test
  void depthAndLengthAreBounded() {
    for (String body :
        List.of(
            "[".repeat(200_000),
            "{\"a\":".repeat(200_000),
            "{\"a\":" + "[".repeat(65) + "]".repeat(65) + "}",
            "{\"a\":" + "9".repeat(1_000_000) + "}")) {
      assertThat(rejected(body, fields -> "").status()).isEqualTo(422);
    }
    String deepest = "{\"a\":" + "[".repeat(63) + "]".repeat(63) + "}";
    assertThat(value(deepest, fields -> "read")).isEqualTo("read");
  }

  @Test
  void bytesThatAreNoUtf8AreRefused() {
    byte[] body = "{\"name\":\"\u00ff\"}".getBytes(StandardCharsets.ISO_8859_1);

    assertThat(Bodies.read(body, fields -> fields.text("name")))
        .isInstanceOf(Bodies.Read.Rejected.class);
  }

  @Test
  void noBodyIsAnObjectWithoutMembers() {
    assertThat(value("", fields -> fields.integer("timeout_ms", 30_000, 0, 600_000)))
        .isEqualTo(30_000L);
  }

  @Test
  void unknownMembersAreIgnoredAndTheLastOfTwoCounts() {
    assertThat(value("{\"x\":[{}],\"name\":\"a\",\"name\":\"b\"}", fields -> fields.text("name")))
        .isEqualTo("b");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "1.5",
        "1.0",
        "1e3",
        "true",
        "\"5\"",
        "null",
        "[]",
        "{}",
        "-1",
        "11",
        "9223372036854775808",
        "1e400"
      })
  void whatIsNoIntegerWithinTheBoundsIsAFault(String value) {
    Problem problem = rejected("{\"n\":" + value + "}", fields -> fields.integer("n", 5, 0, 10));

    assertThat(faults(problem).getFirst().get("loc").toString()).isEqualTo("[\"body\",\"n\"]");
  }

  @Test
  void theBoundsThemselvesAreAccepted() {
    assertThat(value("{\"n\":0}", fields -> fields.integer("n", 5, 0, 10))).isEqualTo(0L);
    assertThat(value("{\"n\":10}", fields -> fields.integer("n", 5, 0, 10))).isEqualTo(10L);
    assertThat(value("{}", fields -> fields.integer("n", 5, 0, 10))).isEqualTo(5L);
  }

  @Test
  void onlyANullableMemberMayBeNull() {
    assertThat(value("{\"n\":null}", fields -> fields.nullableInteger("n", 1, 10)))
        .isEqualTo(Optional.empty());
    assertThat(value("{\"n\":7}", fields -> fields.nullableInteger("n", 1, 10)))
        .isEqualTo(Optional.of(7L));
    assertThat(value("{\"n\":null}", fields -> fields.nullableFlag("n")))
        .isEqualTo(Optional.empty());
    assertThat(rejected("{\"n\":0}", fields -> fields.nullableInteger("n", 1, 10)).status())
        .isEqualTo(422);
  }

  @ParameterizedTest
  @ValueSource(strings = {"5", "true", "null", "[]", "{}", "\"\\ud800\"", "\"\\udc00\\ud800\""})
  void whatIsNoTextIsAFault(String value) {
    assertThat(rejected("{\"t\":" + value + "}", fields -> fields.text("t", "-")).status())
        .isEqualTo(422);
  }

  @Test
  void textIsTakenAsItIs() {
    assertThat(value("{\"t\":\"\\u0000\\r\\n \\ud834\\udd1e\"}", fields -> fields.text("t")))
        .isEqualTo("\0\r\n \ud834\udd1e");
  }

  @ParameterizedTest
  @ValueSource(strings = {"1", "0", "\"true\"", "null", "\"perhaps\""})
  void whatIsNoBooleanIsAFault(String value) {
    assertThat(rejected("{\"b\":" + value + "}", fields -> fields.flag("b", false)).status())
        .isEqualTo(422);
  }

  @Test
  void everyFaultIsTold() {
    Problem problem =
        rejected(
            "{\"a\":5,\"limits\":{\"m\":\"x\"}}",
            fields -> {
              fields.text("a");
              fields.text("missing");
              fields.inner("limits").nullableInteger("m", 1, 10);
              return "";
            });

    assertThat(faults(problem))
        .extracting(fault -> fault.get("loc").toString() + fault.get("type").textValue())
        .containsExactly(
            "[\"body\",\"a\"]string_type",
            "[\"body\",\"missing\"]missing",
            "[\"body\",\"limits\",\"m\"]int_type");
    assertThat(problem.detail()).contains("a");
  }

  @Test
  void mapsAndListsAreCheckedThroughout() {
    Function<Fields, Map<String, String>> labels =
        fields -> fields.textMap("l", Names.LABEL, Names.LABEL, 3);

    assertThat(value("{\"l\":{\"k\":\"v\"}}", labels)).isEqualTo(Map.of("k", "v"));
    for (String bad : List.of("{\"\":\"v\"}", "{\"k\":5}", "{\"k\":\"v w\"}", "[]", "null")) {
      assertThat(rejected("{\"l\":" + bad + "}", labels).status()).isEqualTo(422);
    }
    for (String bad : List.of("[5]", "[\"UP\"]", "\"x\"", "null", "{}")) {
      assertThat(rejected("{\"l\":" + bad + "}", f -> f.texts("l", Names.PROFILE, 3)).status())
          .isEqualTo(422);
    }
  }

  @Test
  void mapsAndListsAreBounded() {
    String three = "{\"l\":{\"a\":\"1\",\"b\":\"2\",\"c\":\"3\"}}";
    assertThat(value(three, f -> f.textMap("l", Names.LABEL, Names.LABEL, 3).size())).isEqualTo(3);
    assertThat(value("{\"l\":[\"a\",\"b\"]}", f -> f.texts("l", Names.PROFILE, 2)))
        .isEqualTo(List.of("a", "b"));
    for (Problem over :
        List.of(
            rejected(three, fields -> fields.textMap("l", Names.LABEL, Names.LABEL, 2)),
            rejected("{\"l\":[\"a\",\"b\"]}", fields -> fields.texts("l", Names.PROFILE, 1)))) {
      assertThat(over.status()).isEqualTo(422);
      assertThat(faults(over))
          .extracting(fault -> fault.get("type").textValue())
          .containsExactly("too_long");
    }
  }

  @Test
  void aCommandIsBoundedInBytes() {
    String fits = "\u00e9".repeat(ShellBodies.MAX_COMMAND_BYTES / 2);
    String json = "{\"command\":\"%s\"}";

    assertThat(accepted(json.formatted(fits), ShellBodies.Exec::read).command()).isEqualTo(fits);
    Problem problem = rejected(json.formatted(fits + "x"), ShellBodies.Exec::read);
    assertThat(problem.members().get("limit").longValue()).isEqualTo(1_048_576);
    assertThat(rejected(json.formatted("a\\u0000b"), ShellBodies.Exec::read).status())
        .isEqualTo(422);
  }

  @Test
  void aSignalIsTextOrAnInteger() {
    assertThat(value("{\"signal\":15}", ShellBodies::signal)).isEqualTo("15");
    assertThat(value("{\"signal\":\"TERM\"}", ShellBodies::signal)).isEqualTo("TERM");
    assertThat(value("{}", ShellBodies::signal)).isEqualTo("SIGTERM");
    for (String bad : List.of("15.0", "true", "null", "[]")) {
      assertThat(rejected("{\"signal\":" + bad + "}", ShellBodies::signal).status()).isEqualTo(422);
    }
  }

  @Test
  void stdinIsDecoded() {
    assertThat(
            accepted("{\"data\":\"Af8=\",\"encoding\":\"base64\"}", ShellBodies.Stdin::read)
                .data()
                .toArray())
        .containsExactly(1, -1);
    assertThat(accepted("{\"eof\":true}", ShellBodies.Stdin::read).data().isEmpty()).isTrue();
    for (String bad :
        List.of(
            "{\"data\":\"!!\",\"encoding\":\"base64\"}",
            "{\"data\":\"Af8\",\"encoding\":\"base64\"}",
            "{\"data\":\"x\",\"encoding\":\"hex\"}",
            "{\"data\":\"x\",\"target\":\"stderr\"}",
            "{}",
            "{\"data\":5}")) {
      assertThat(rejected(bad, ShellBodies.Stdin::read).status()).isEqualTo(422);
    }
  }

  private static <T> T accepted(String body, Function<Fields, T> reader) {
    return switch (read(body, reader)) {
      case Bodies.Read.Accepted<T>(var value) -> value;
      case Bodies.Read.Rejected<T>(var problem) ->
          throw new AssertionError(problem.body("/").toString());
    };
  }

  /** Without its type, so that AssertJ does not have to guess it. */
  private static Object value(String body, Function<Fields, ?> reader) {
    return accepted(body, reader);
  }

  private static <T> Problem rejected(String body, Function<Fields, T> reader) {
    return switch (read(body, reader)) {
      case Bodies.Read.Rejected<T>(var problem) -> problem;
      case Bodies.Read.Accepted<T>(var value) -> throw new AssertionError("accepted " + value);
    };
  }

  private static <T> Bodies.Read<T> read(String body, Function<Fields, T> reader) {
    return Bodies.read(body.getBytes(StandardCharsets.UTF_8), reader);
  }

  private static List<JsonNode> faults(Problem problem) {
    ObjectNode members = problem.members();
    return members.get("errors").valueStream().toList();
  }
}
