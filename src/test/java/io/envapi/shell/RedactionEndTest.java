package io.envapi.shell;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.pekko.util.ByteString;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is left of a secret when its shell has ended. */
class RedactionEndTest {

  @TempDir Path directory;
  private final Redaction redaction = new Redaction();

  /** Looked for in a dump of what can be reached in the heap. */
  @Test
  void aSecretIsNotInMemoryAfterTheEnd() throws Exception {
    byte[] secret = new byte[24];
    for (int i = 0; i < secret.length; i++) {
      secret[i] = (byte) ThreadLocalRandom.current().nextInt('a', 'z' + 1);
    }
    byte[] inverted = inverted(secret);
    redaction.add("svc", secret);
    redaction.feed(ByteString.fromString("something"));
    redaction.flush();
    Arrays.fill(secret, (byte) 0);
    assertThat(isInHeap("before", inverted)).isTrue();

    redaction.end();

    assertThat(isInHeap("after", inverted)).isFalse();
    assertThat(redaction.flush()).isEqualTo(ByteString.emptyByteString());
  }

  @Test
  void nothingIsShownUnredactedAfterTheEnd() {
    redaction.end();
    redaction.add("svc", new byte[] {'s', 'e', 'c', 'r', 'e', 't'});
    ByteString more = ByteString.fromString("secret");
    assertThatThrownBy(() -> redaction.feed(more)).isInstanceOf(IllegalStateException.class);
  }

  private boolean isInHeap(String name, byte[] inverted) throws IOException {
    Path dump = directory.resolve(name + ".hprof");
    ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
        .dumpHeap(dump.toString(), true);
    // Mapped: the dump may be larger than what is left of the heap.
    try (FileChannel file = FileChannel.open(dump)) {
      MappedByteBuffer heap = file.map(FileChannel.MapMode.READ_ONLY, 0, file.size());
      for (int at = 0; at <= heap.limit() - inverted.length; at++) {
        if (isAt(heap, at, inverted)) {
          return true;
        }
      }
      return false;
    } finally {
      Files.delete(dump);
    }
  }

  private static boolean isAt(ByteBuffer heap, int at, byte[] inverted) {
    for (int i = 0; i < inverted.length; i++) {
      if ((byte) ~heap.get(at + i) != inverted[i]) {
        return false;
      }
    }
    return true;
  }

  /** So that what is looked for is not itself in the heap. */
  private static byte[] inverted(byte[] bytes) {
    byte[] inverted = new byte[bytes.length];
    for (int i = 0; i < bytes.length; i++) {
      inverted[i] = (byte) ~bytes[i];
    }
    return inverted;
  }
}
