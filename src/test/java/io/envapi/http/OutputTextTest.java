package io.envapi.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Random;
import org.apache.pekko.util.ByteString;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OutputTextTest {

  @ParameterizedTest
  @CsvSource({
    "'', 0",
    "61, 0",
    "61c3, 1",
    "61c3a9, 0",
    "e2, 1",
    "e282, 2",
    "e282ac, 0",
    "f0, 1",
    "f09d, 2",
    "f09d84, 3",
    "f09d849e, 0",
    // What no byte can complete is not kept back.
    "80, 0",
    "6180, 0",
    "c0, 0",
    "c1, 0",
    "e080, 0",
    "eda0, 0",
    "f08f, 0",
    "f490, 0",
    "f5, 0",
    "ff, 0",
    "c3a9a9, 0",
    "f0808080, 0"
  })
  void onlyWhatMoreBytesCouldCompleteIsIncomplete(String hex, int expected) {
    ByteString bytes = ByteString.fromArray(HexFormat.of().parseHex(hex));

    assertThat(OutputText.incompleteTail(bytes)).isEqualTo(expected);
  }

  @Test
  void itAgreesWithTheDecoder() {
    var random = new Random(20);
    // Without ed: the decoder waits for the third byte of a surrogate, which is no character.
    byte[] interesting = HexFormat.of().parseHex("417f8090a0bfc0c2c3dfe0e1eff0f1f4f5ff");
    for (int round = 0; round < 200_000; round++) {
      byte[] bytes = new byte[random.nextInt(6)];
      for (int i = 0; i < bytes.length; i++) {
        bytes[i] = interesting[random.nextInt(interesting.length)];
      }
      assertThat(OutputText.incompleteTail(ByteString.fromArray(bytes)))
          .as(HexFormat.of().formatHex(bytes))
          .isEqualTo(leftByDecoder(bytes));
    }
  }

  /** What the decoder leaves when it is told that more may come. */
  private static int leftByDecoder(byte[] bytes) {
    ByteBuffer in = ByteBuffer.wrap(bytes);
    StandardCharsets.UTF_8
        .newDecoder()
        .onMalformedInput(CodingErrorAction.REPLACE)
        .decode(in, CharBuffer.allocate(32), false);
    return in.remaining();
  }
}
