package io.envapi.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** How numbers are written: never with an exponent, which not every reader takes. */
class JsonTest {

  private static String written(JsonNode value) {
    return new String(Json.bytes(value), StandardCharsets.UTF_8);
  }

  @Test
  void numbersArePlain() {
    assertThat(written(Json.object().put("at", Json.seconds(1_796_032_498_309L))))
        .isEqualTo("{\"at\":1796032498.309}");
    assertThat(written(Json.object().put("at", Json.seconds(1.7960324983192923E9))))
        .isEqualTo("{\"at\":1796032498.319292}");
    assertThat(written(Json.object().put("at", Json.seconds(1.0E10))))
        .isEqualTo("{\"at\":10000000000.000000}");
    assertThat(written(Json.object().put("at", Json.seconds(0.0)))).isEqualTo("{\"at\":0.000000}");
    assertThat(written(Json.exact(1.0E7))).isEqualTo("10000000.0");
    assertThat(written(Json.exact(86400.0))).isEqualTo("86400.0");
    assertThat(written(Json.exact(0.25))).isEqualTo("0.25");
    assertThat(written(Json.exact(12_345_678_901L))).isEqualTo("12345678901");
  }

  @Test
  void whatIsJsonAlreadyStaysAsItIs() {
    assertThat(written(Json.array().add(Json.raw("{\"ts\":1796032657.769}"))))
        .isEqualTo("[{\"ts\":1796032657.769}]");
  }
}
