package io.envapi.shell;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.envapi.id.CommandId;
import io.envapi.id.EnvironmentId;
import io.envapi.id.ShellId;
import io.envapi.linux.ExitStatus;
import io.envapi.linux.Spawn;
import io.envapi.linux.Spawner;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.pekko.util.ByteString;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CommandLogTest {

  private static final CommandId COMMAND =
      CommandId.of(ShellId.of(new EnvironmentId("env_0123456789ab"), 1), 1);

  @TempDir Path logs;

  @Test
  void isCutAtItsCap() {
    try (var log = new CommandLog(logs, COMMAND, 5)) {
      log.append(ByteString.fromString("abc"));
      log.append(ByteString.fromString("defg"));
      log.append(ByteString.fromString("h"));
      assertThat(log.bytes()).isEqualTo(5);
      assertThat(log.truncated()).isTrue();
    }
    assertThat(CommandLog.read(logs, COMMAND, 0, 100).utf8String()).isEqualTo("abcde");
  }

  /** What is written after a gap would be read at the wrong offset. */
  @Test
  void endsForGoodWhereTheDiskWasFull() throws Exception {
    assumeTrue(
        command("/bin/mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", logs.toString()),
        "mounting a small tmpfs needs root and CAP_SYS_ADMIN");
    try (var log = new CommandLog(logs, COMMAND, 1 << 20)) {
      Path filler = Files.write(logs.resolve("filler"), new byte[32 << 10]);
      log.append(ByteString.fromString("begun"));
      log.append(ByteString.fromArray(new byte[64 << 10]));
      long held = log.bytes();
      assertThat(log.truncated()).isTrue();
      Files.delete(filler);
      log.append(ByteString.fromString("after"));
      assertThat(log.bytes()).isEqualTo(held).isLessThan(64 << 10);
      assertThat(CommandLog.size(logs, COMMAND)).isEqualTo(held);
    } finally {
      assertThat(command("/bin/umount", logs.toString())).isTrue();
    }
  }

  private static boolean command(String... argv) {
    return Spawner.plain()
        .spawn(Spawn.of(List.of(argv)).environment(Map.of("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")))
        .exit()
        .join()
        .equals(new ExitStatus.Exited(0));
  }
}
