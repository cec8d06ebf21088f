package io.envapi.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.envapi.linux.Directory;
import io.envapi.linux.LinuxException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ArchiveUnpackingTest {

  @TempDir private Path temp;

  @Test
  void aDirectoryThatCannotBeGivenAwayDoesNotStayOpen() throws IOException {
    assumeFalse(Fixture.isRoot(), "root can give everything away");
    try (Directory into = Directory.open(temp)) {
      var root = new WorkspaceRoot(into, 0, 0, List.of());
      var unpacking = new ArchiveUnpacking(root, new DiskMeter(into, temp), 1 << 20, 0, into);
      var name = new ArchivePath("made");
      assertThatThrownBy(() -> unpacking.directory(name, 0755)).isInstanceOf(LinuxException.class);
    }
    assertThat(temp.resolve("made")).exists();
    assertThat(isOpen(temp.resolve("made"))).isFalse();
  }

  private static boolean isOpen(Path path) throws IOException {
    try (var open = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
      for (Path each : open) {
        // Not of the stream's own descriptor, nor of what others close meanwhile.
        if (Files.exists(each) && Files.isSameFile(each, path)) {
          return true;
        }
      }
    }
    return false;
  }
}
