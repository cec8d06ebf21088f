package io.envapi.http;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StreamPositionTest {

  @Test
  void aPlainNumberIsAPosition() {
    assertThat(StreamPosition.parse("17")).contains(StreamPosition.at(17));
    assertThat(StreamPosition.parse("17-4")).contains(StreamPosition.after(17, 4));
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "17", "17-0", "999999999999999999-999999999"})
  void whatIsWrittenIsRead(String id) {
    assertThat(StreamPosition.parse(id).orElseThrow().id()).isEqualTo(id);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "-1",
        "+1",
        "1-",
        "1--2",
        "1-2-3",
        "1 ",
        "x",
        "1.5",
        "٣",
        "9999999999999999999",
        "1-9999999999"
      })
  void anythingElseIsNone(String id) {
    assertThat(StreamPosition.parse(id)).isEmpty();
  }
}
