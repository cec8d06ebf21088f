package io.envapi.shell;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.envapi.id.CommandId;
import io.envapi.id.EnvironmentId;
import io.envapi.id.ShellId;
import io.envapi.linux.ExitStatus;
import io.envapi.linux.Run;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.pekko.util.ByteString;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CommandLogTest {

  private static final CommandId COMMAND = CommandId.of(ShellId.of(EnvironmentId.random(), 1), 1);

  @TempDir private Path directory;

  @Test
  void aLogThatADiskHadNoRoomForGoesOnNowhere() throws Exception {
    assumeTrue(
        Run.run("mount -t tmpfs -o size=64k tmpfs " + directory)
            .status()
            .equals(new ExitStatus.Exited(0)),
        "mounting a small tmpfs needs CAP_SYS_ADMIN");
    try (var log = new CommandLog(directory, COMMAND, 1 << 20)) {
      Path filler = directory.resolve("filler");
      Files.write(filler, new byte[16_384]);
      log.append(ByteString.fromString("a".repeat(20_000)));
      log.append(ByteString.fromString("b".repeat(60_000)));
      long end = log.bytes();
      assertThat(end).isBetween(20_000L, 79_999L);
      Files.delete(filler);

      log.append(ByteString.fromString("c"));

      assertThat(log.truncated()).isTrue();
      assertThat(log.bytes()).isEqualTo(end);
      assertThat(CommandLog.read(directory, COMMAND, 0, 1 << 20).utf8String())
          .isEqualTo("a".repeat(20_000) + "b".repeat((int) end - 20_000));
    } finally {
      Run.run("umount --lazy " + directory);
    }
  }
}
