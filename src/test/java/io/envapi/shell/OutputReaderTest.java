package io.envapi.shell;

import static org.assertj.core.api.Assertions.assertThat;

import io.envapi.id.CommandId;
import io.envapi.id.EnvironmentId;
import io.envapi.id.ShellId;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.apache.pekko.util.ByteString;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is told of a command's output when its shell's process is gone and the logs are left. */
class OutputReaderTest {

  private static final Shell.Window ALL = new Shell.Window(100, false);

  private final ShellId shell = ShellId.of(EnvironmentId.random(), 1);
  private final CommandRecord first = command(1, 0, 5);
  private final CommandRecord second = command(2, 5, 11);

  @TempDir private Path logs;
  private OutputReader reader;

  @BeforeEach
  void logTheSecond() {
    log(second, "second");
    reader = new OutputReader(Optional.empty(), logs, List.of(first, second));
  }

  @Test
  void aResultIsReadFromTheLog() {
    log(first, "first");

    assertThat(result(first, ALL).output().utf8String()).isEqualTo("first");
    assertThat(result(second, ALL).output().utf8String()).isEqualTo("second");
    CommandResult tail = result(first, new Shell.Window(2, true));
    assertThat(tail.output().utf8String()).isEqualTo("st");
    assertThat(tail.truncated()).isEqualTo(3);
  }

  @Test
  void aResultWhoseLogWasPrunedIsEmptyAndNotTheNextOne() {
    CommandResult result = result(first, ALL);

    assertThat(result.output().size()).isZero();
    assertThat(result.dropped()).isEqualTo(5);
    assertThat(result.truncated()).isZero();
    assertThat(result.cursor()).isEqualTo(5);
  }

  private CommandResult result(CommandRecord command, Shell.Window window) {
    return reader.result(command, window, ShellView.State.DEAD);
  }

  private void log(CommandRecord command, String output) {
    try (var log = new CommandLog(logs, command.id(), 100)) {
      log.append(ByteString.fromString(output));
    }
  }

  private CommandRecord command(int number, long start, long end) {
    return new CommandRecord(
        CommandId.of(shell, number),
        "true",
        CommandRecord.State.EXITED,
        Optional.of(CommandRecord.Reason.EXITED),
        Optional.of(0),
        Optional.empty(),
        0,
        Optional.of(1L),
        start,
        Optional.of(end),
        end - start,
        false,
        Optional.empty(),
        List.of(),
        List.of(),
        false);
  }
}
