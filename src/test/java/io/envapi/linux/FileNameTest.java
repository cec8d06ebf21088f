package io.envapi.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Names as the kernel keeps them. */
class FileNameTest {

  @Test
  void areOrderedByUnsignedBytes() {
    var random = new Random(1);
    List<FileName> names = IntStream.range(0, 500).mapToObj(_ -> name(random)).toList();
    for (FileName one : names) {
      for (FileName other : names) {
        assertThat(Integer.signum(one.compareTo(other)))
            .as("%s and %s", one, other)
            .isEqualTo(Integer.signum(Arrays.compareUnsigned(one.bytes(), other.bytes())));
      }
    }
  }

  /** Of few different bytes, so that many begin alike, and of lengths around that of a long. */
  private static FileName name(Random random) {
    byte[] letters = {1, 'a', 0x7f, (byte) 0x80, (byte) 0xff};
    byte[] bytes = new byte[1 + random.nextInt(11)];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = letters[random.nextInt(i < 7 ? 2 : letters.length)];
    }
    return FileName.of(bytes);
  }
}
