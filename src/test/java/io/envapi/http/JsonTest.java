package io.envapi.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
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
    assertThat(written(Json.object().put("at", Json.ofMicros(1_796_032_498_319_292L))))
        .isEqualTo("{\"at\":1796032498.319292}");
    assertThat(written(Json.object().put("at", Json.ofMicros(10_000_000_000_000_000L))))
        .isEqualTo("{\"at\":10000000000.000000}");
    assertThat(written(Json.object().put("at", Json.ofMicros(0)))).isEqualTo("{\"at\":0.000000}");
    assertThat(written(Json.object().put("at", Json.ofMicros(-1)))).isEqualTo("{\"at\":-0.000001}");
    assertThat(written(Json.exact(1.0E7))).isEqualTo("10000000.0");
    assertThat(written(Json.exact(86400.0))).isEqualTo("86400.0");
    assertThat(written(Json.exact(0.25))).isEqualTo("0.25");
    assertThat(written(Json.exact(12_345_678_901L))).isEqualTo("12345678901");
  }

  @Test
  void onlyUtf8IsRead() throws Exception {
    assertThat(Json.parse("{\"a\":\"é€\"}".getBytes(StandardCharsets.UTF_8)).path("a").asText())
        .isEqualTo("é€");
    assertThat(Json.parse("\uFEFF{\"a\":1}".getBytes(StandardCharsets.UTF_8)).path("a").asInt())
        .isEqualTo(1);
    for (byte[] bytes :
        List.of(
            new byte[] {'"', (byte) 0xC1, (byte) 0x81, '"'},
            new byte[] {'"', (byte) 0xE0, (byte) 0x80, (byte) 0xAF, '"'},
            new byte[] {'"', (byte) 0xFF, '"'},
            new byte[] {'"', (byte) 0xC3, '"'},
            "{\"a\":1}".getBytes(StandardCharsets.UTF_16),
            "{\"a\":1}".getBytes(StandardCharsets.UTF_16LE))) {
      assertThatThrownBy(() -> Json.parse(bytes)).isInstanceOf(IOException.class);
    }
  }

  @Test
  void whatIsJsonAlreadyStaysAsItIs() {
    assertThat(written(Json.array().add(Json.raw("{\"ts\":1796032657.769}"))))
        .isEqualTo("[{\"ts\":1796032657.769}]");
  }
}
