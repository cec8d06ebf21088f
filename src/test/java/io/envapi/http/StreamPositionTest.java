package io.envapi.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.envapi.id.CommandId;
import io.envapi.id.EnvironmentId;
import io.envapi.id.ShellId;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StreamPositionTest {

  @Test
  void aPlainNumberIsAPosition() {
    assertThat(StreamPosition.parse("17")).contains(StreamPosition.at(17));
    assertThat(StreamPosition.parse("17-4")).contains(StreamPosition.after(17, 4));
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "17", "17-0", "999999999999999999-999999999"})
  void whatIsWrittenIsRead(String id) {
    assertThat(StreamPosition.parse(id).orElseThrow().id()).isEqualTo(id);
  }

  @Test
  void aCommandsStreamGivesOutItsOwnMarksAlone() {
    CommandId third = CommandId.of(ShellId.of(new EnvironmentId("env_0123456789ab"), 1), 3);
    assertThat(List.of("8", "8-0", "8-5", "8-6")).allMatch(id -> isOf(third, id));
    assertThat(List.of("8-1", "8-4", "8-7", "8-99")).noneMatch(id -> isOf(third, id));
  }

  private static boolean isOf(CommandId command, String id) {
    return StreamPosition.parse(id).orElseThrow().isOf(command);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "-1",
        "+1",
        "1-",
        "1--2",
        "1-2-3",
        "1 ",
        "x",
        "1.5",
        "٣",
        "9999999999999999999",
        "1-9999999999"
      })
  void anythingElseIsNone(String id) {
    assertThat(StreamPosition.parse(id)).isEmpty();
  }
}
