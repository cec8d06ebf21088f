package io.envapi.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The directory a service keeps everything in. */
class DataRootTest {

  @TempDir Path directory;

  @ParameterizedTest
  @ValueSource(strings = {"/proc/nowhere", "/dev/null", "/dev/null/below"})
  void whatCannotBeWrittenIsNamedAndSoIsTheSetting(String path) {
    assertThat(DataRoot.open(Path.of(path)))
        .isInstanceOfSatisfying(
            DataRoot.Unusable.class,
            unusable ->
                assertThat(unusable.why())
                    .startsWith("the data root " + path + " cannot be written (")
                    .contains("ENVAPI_ROOT"));
    assertThat(DataRoot.fault(Path.of(path))).isPresent();
  }

  @Test
  void aProbeLeavesNothing() throws IOException {
    assertThat(DataRoot.fault(directory.resolve("new/root"))).isEmpty();
    try (var left = Files.list(directory.resolve("new/root"))) {
      assertThat(left).isEmpty();
    }
  }

  @Test
  void keepsItsIdAndRefusesAnythingElseInItsPlace() throws IOException {
    String first = idOf(DataRoot.open(directory));
    assertThat(idOf(DataRoot.open(directory))).isEqualTo(first);
    Files.writeString(directory.resolve("host-id"), "nonsense");
    assertThat(DataRoot.open(directory)).isInstanceOf(DataRoot.Unusable.class);
  }

  private static String idOf(DataRoot.Outcome outcome) throws IOException {
    assertThat(outcome).isInstanceOf(DataRoot.Opened.class);
    try (DataRoot root = ((DataRoot.Opened) outcome).root()) {
      return root.hostId().value();
    }
  }
}
