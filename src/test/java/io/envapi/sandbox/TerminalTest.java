package io.envapi.sandbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.envapi.linux.FileDescriptor;
import io.envapi.linux.LinuxException;
import io.envapi.linux.Pipe;
import io.envapi.linux.Pty;
import java.nio.file.Path;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class TerminalTest {

  @Test
  void oneThatCannotBeGivenAwayIsClosed() {
    try (Pipe pipe = Pipe.open()) {
      FileDescriptor noTerminal = pipe.write();
      var pty = new Pty(noTerminal, Path.of("/dev/null"));
      assertThatThrownBy(() -> Terminal.of(pty, OptionalInt.of(61_000)))
          .isInstanceOf(LinuxException.class);
      // The pipe ends with the only descriptor of its other end.
      assertThat(pipe.read().read(new byte[1], 0, 1)).isZero();
    }
  }
}
