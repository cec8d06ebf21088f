package io.envapi.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** What was written and wiped is nowhere in the memory that this package keeps. */
class WipeTest {

  private static final String SECRET = "a-secret-that-is-not-to-stay";

  @Test
  void whatWasWrittenArrivesAndIsGoneHere() {
    String text = SECRET.repeat(10_000);
    byte[] secret = text.getBytes(StandardCharsets.UTF_8);
    try (Pipe pipe = Pipe.open()) {
      var arrived = CompletableFuture.supplyAsync(() -> Run.drain(pipe.read()));
      pipe.write().writeAllAndWipe(secret);
      pipe.write().close();
      assertThat(arrived.join()).isEqualTo(text);
    }
    assertThat(secret).containsOnly(0);
  }

  @Test
  void theCopyInNativeMemoryIsGoneToo() {
    try (Pipe pipe = Pipe.open()) {
      pipe.write().writeAll(SECRET.getBytes(StandardCharsets.UTF_8));
      assertThat(kept()).as("what this test looks for").contains(SECRET);
      overwriteKept();

      byte[] secret = SECRET.getBytes(StandardCharsets.UTF_8);
      pipe.write().writeAllAndWipe(secret);

      assertThat(secret).containsOnly(0);
      assertThat(kept()).doesNotContain(SECRET);
    }
  }

  @Test
  void alsoWhenNobodyTookIt() {
    byte[] secret = SECRET.getBytes(StandardCharsets.UTF_8);
    overwriteKept();
    try (Pipe pipe = Pipe.open()) {
      pipe.read().close();
      assertThatThrownBy(() -> pipe.write().writeAllAndWipe(secret))
          .isInstanceOf(LinuxException.class);
    }
    assertThat(secret).containsOnly(0);
    assertThat(kept()).doesNotContain(SECRET);
  }

  private static String kept() {
    var text = new StringBuilder();
    for (Scratch scratch : all()) {
      byte[] bytes = scratch.memory().toArray(ValueLayout.JAVA_BYTE);
      text.append(new String(bytes, StandardCharsets.ISO_8859_1));
      scratch.close();
    }
    return text.toString();
  }

  private static void overwriteKept() {
    for (Scratch scratch : all()) {
      scratch.memory().fill((byte) 0);
      scratch.close();
    }
  }

  /** More than are ever kept. */
  private static List<Scratch> all() {
    var all = new ArrayList<Scratch>();
    for (int i = 0; i < 32; i++) {
      all.add(Scratch.take(Scratch.SIZE));
    }
    return all;
  }
}
