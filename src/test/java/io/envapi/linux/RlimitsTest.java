package io.envapi.linux;

import static org.assertj.core.api.Assertions.assertThat;

import io.envapi.linux.Rlimits.Limit;
import io.envapi.linux.Rlimits.Resource;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RlimitsTest {

  /** The unit of {@code ulimit}, in that of prlimit. */
  @ParameterizedTest
  @CsvSource({
    "CPU,t,1,77",
    "FSIZE,f,1024,40",
    "CORE,c,1024,0",
    "NPROC,u,1,555",
    "NOFILE,n,1,99",
    "AS,v,1024,900000"
  })
  void theProcessIsUnderTheLimit(Resource resource, String flag, long unit, long value) {
    try (Pipe in = Pipe.open();
        Pipe out = Pipe.open()) {
      Child child =
          Run.SPAWNER.spawn(
              Run.bash("read -r x; ulimit -S" + flag + "; ulimit -H" + flag)
                  .descriptors(Map.of(0, in.read(), 1, out.write(), 2, out.write())));
      out.write().close();
      assertThat(Rlimits.set(child.pid(), resource, value * unit, value * unit)).isTrue();
      assertThat(Rlimits.get(child.pid(), resource))
          .isEqualTo(new Limit(value * unit, value * unit));
      in.write().writeAll(new byte[] {'\n'});
      assertThat(Run.drain(out.read())).isEqualTo(value + "\n" + value + "\n");
      Run.exit(child);
    }
  }

  @Test
  void aProcessThatIsGoneIsNotLimited() {
    Child child = Run.SPAWNER.spawn(Run.bash("exit 0"));
    Run.exit(child);
    assertThat(Rlimits.set(child.pid(), Resource.CORE, 0, 0)).isFalse();
  }
}
