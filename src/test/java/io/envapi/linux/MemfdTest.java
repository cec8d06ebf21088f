package io.envapi.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Test;

class MemfdTest {

  @Test
  void holdsWhatWasPutLast() {
    byte[] large = new byte[3_000_000];
    Arrays.fill(large, (byte) 'y');
    try (Memfd file = Memfd.create("test");
        FileDescriptor reader = file.openReadOnly()) {
      file.replace(large);
      assertThat(Run.drain(reader)).hasSize(large.length);
      file.replace("echo \"$1\"".getBytes(StandardCharsets.UTF_8));
      try (Pipe out = Pipe.open()) {
        Child child =
            Run.SPAWNER.spawn(
                Run.bash(". /dev/fd/7 one; . /dev/fd/7 two")
                    .descriptors(Map.of(0, out.read(), 1, out.write(), 7, reader)));
        out.write().close();
        assertThat(Run.drain(out.read())).isEqualTo("one\ntwo\n");
        assertThat(Run.exit(child)).isEqualTo(new ExitStatus.Exited(0));
      }
      assertThatThrownBy(() -> reader.write(large, 0, 1))
          .isInstanceOfSatisfying(
              LinuxException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EBADF));
    }
  }
}
