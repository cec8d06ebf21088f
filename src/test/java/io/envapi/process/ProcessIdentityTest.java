package io.envapi.process;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.envapi.linux.Boot;
import io.envapi.linux.Child;
import io.envapi.linux.ExitStatus;
import io.envapi.linux.Run;
import io.envapi.linux.Signal;
import io.envapi.linux.Spawn;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ProcessIdentityTest {

  private final Child child = Run.SPAWNER.spawn(Spawn.of(List.of("/bin/sleep", "1000")));
  private final ProcessIdentity identity = ProcessIdentity.of(child.pid()).orElseThrow();

  @AfterEach
  void end() {
    child.signal(Signal.KILL);
    Run.exit(child);
  }

  @Test
  void itsOwnProcessIsSignalled() {
    assertThat(identity.isAlive()).isTrue();
    assertThat(identity.signal(Signal.TERM)).isTrue();
    assertThat(Run.exit(child)).isEqualTo(new ExitStatus.Signaled(15));
    assertThat(identity.isAlive()).isFalse();
    assertThat(identity.signal(Signal.TERM)).isFalse();
  }

  /** What a recycled number looks like: the same pid, another start. */
  @Test
  void aProcessThatTookOverTheNumberSurvives() {
    for (var other :
        List.of(
            new ProcessIdentity(child.pid(), identity.startTicks() - 1, Boot.id()),
            new ProcessIdentity(child.pid(), identity.startTicks() + 1, Boot.id()),
            new ProcessIdentity(child.pid(), identity.startTicks(), "another boot"))) {
      assertThat(other.isAlive()).isFalse();
      assertThat(other.signal(Signal.KILL)).isFalse();
    }
    child.signal(Signal.TERM);
    assertThat(Run.exit(child)).isEqualTo(new ExitStatus.Signaled(15));
  }

  @Test
  void isStoredAsItsThreeParts() throws Exception {
    ObjectMapper json = new ObjectMapper();
    var stored = new ProcessIdentity(4, 5, "b");
    assertThat(json.writeValueAsString(stored))
        .isEqualTo("{\"pid\":4,\"startTicks\":5,\"bootId\":\"b\"}");
    assertThat(json.readValue(json.writeValueAsString(stored), ProcessIdentity.class))
        .isEqualTo(stored);
  }
}
