package io.envapi.shell;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.util.Random;
import org.apache.pekko.util.ByteString;
import org.junit.jupiter.api.Test;

/** The ring against a plain array of everything ever appended. */
class OutputRingTest {

  @Test
  void holdsTheNewestBytesOfAnyPieces() {
    var random = new Random(7);
    for (int round = 0; round < 300; round++) {
      int capacity = 1 + random.nextInt(10_000);
      var ring = new OutputRing(capacity, 0);
      var all = new ByteArrayOutputStream();
      for (int i = 0; i < 20; i++) {
        byte[] piece = new byte[1 + random.nextInt(3 * capacity)];
        random.nextBytes(piece);
        ring.append(ByteString.fromArray(piece));
        all.writeBytes(piece);
        check(ring, all.toByteArray(), random.nextInt(all.size() + 2), capacity);
      }
    }
  }

  private static void check(OutputRing ring, byte[] all, long cursor, int capacity) {
    assertThat(ring.end()).isEqualTo(all.length);
    assertThat(ring.start()).isGreaterThanOrEqualTo(all.length - (long) capacity);
    var slice = ring.read(cursor, Integer.MAX_VALUE);
    int from = (int) Math.min(Math.max(cursor, ring.start()), all.length);
    assertThat(slice.cursor()).isEqualTo(from);
    assertThat(slice.dropped()).isEqualTo(Math.max(0, from - cursor));
    assertThat(slice.data().toArray())
        .isEqualTo(java.util.Arrays.copyOfRange(all, from, all.length));
  }

  @Test
  void allocatesWithUse() {
    var ring = new OutputRing(1 << 30, 0);
    ring.append(ByteString.fromString("small"));
    assertThat(ring.read(0, 100).data().utf8String()).isEqualTo("small");
  }

  @Test
  void cursorPastTheEndIsTheEnd() {
    var ring = new OutputRing(10, 5);
    ring.append(ByteString.fromString("abc"));
    var slice = ring.read(99, 10);
    assertThat(slice.cursor()).isEqualTo(8);
    assertThat(slice.dropped()).isZero();
    assertThat(slice.next()).isEqualTo(8);
  }
}
