package io.envapi.files;

import static io.envapi.files.Fixture.delete;
import static io.envapi.files.Fixture.list;
import static org.assertj.core.api.Assertions.assertThat;

import io.envapi.linux.Directory;
import io.envapi.linux.FileName;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class TreeRemovalTest {

  private static final int DEEP = 5000;

  @TempDir(factory = InMemory.class)
  private Path temp;

  private Fixture on;

  @BeforeEach
  void open() throws Exception {
    on = new Fixture(temp);
  }

  @AfterEach
  void close() {
    // The JDK cannot remove a deep tree if a test left one.
    on.close();
    TreeRemoval.deleteTree(on.files);
  }

  private void makeDeep(String top) {
    Directory at = Directory.open(on.files);
    for (int i = 0; i < DEEP; i++) {
      FileName name = FileName.of(i == 0 ? top : "directory");
      at.makeDirectory(name, 0755);
      Directory next = at.openDirectory(name);
      at.close();
      at = next;
    }
    try (Directory last = at;
        var file = last.createFile(FileName.of("file"))) {
      file.write(new byte[77], 0, 77, 0);
    }
  }

  @Test
  void treesMayBeDeep() throws Exception {
    makeDeep("top");
    assertThat(on.tree.measure().workspaceBytes()).isEqualTo(77);
    assertThat(on.ok(list(".", 10), FileAnswer.Listing.class).entries()).hasSize(11);
    on.open().close();
    on.ok(delete("top", true), FileAnswer.Deleted.class);
    assertThat(on.files).isEmptyDirectory();
    makeDeep("again");
    on.tree.clear();
    assertThat(on.files).isEmptyDirectory();
    makeDeep("andagain");
    TreeRemoval.deleteTree(on.files);
    assertThat(on.files).doesNotExist();
    TreeRemoval.deleteTree(on.files);
    TreeRemoval.deleteTree(on.files.resolve("missing/too"));
  }

  @Test
  void treesMayBeWide() throws Exception {
    try (Directory directory = Directory.open(on.files)) {
      for (int i = 0; i < 100_000; i++) {
        directory.createFile(FileName.of("f" + i)).close();
      }
    }
    FileAnswer.Listing page =
        on.ok(
            new FileOperation.ListDirectory(
                SentPath.of("."),
                java.util.Optional.empty(),
                0,
                FileOperation.ListDirectory.MOST,
                java.util.Optional.empty()),
            FileAnswer.Listing.class);
    assertThat(page.entries()).hasSize(100_000);
    on.tree.clear();
    assertThat(on.files).isEmptyDirectory();
  }

  @Test
  void permissionsDoNotProtectFromIt() throws Exception {
    for (String mode :
        java.util.List.of("---------", "r--------", "-w-------", "--x------", "r-x------")) {
      Path directory = Files.createDirectories(on.at("d/" + mode + "/inner"));
      Files.writeString(directory.resolve("f"), "x");
      Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString(mode));
      Files.setPosixFilePermissions(directory.getParent(), PosixFilePermissions.fromString(mode));
    }
    on.ok(delete("d", true), FileAnswer.Deleted.class);
    assertThat(on.files).isEmptyDirectory();
  }

  @Test
  void processesMayMoveThingsMeanwhile() throws Exception {
    AtomicBoolean done = new AtomicBoolean();
    Files.createDirectories(on.at("refuge"));
    Thread mover =
        new Thread(
            () -> {
              try (Directory directory = Directory.open(on.files)) {
                FileName refuge = FileName.of("refuge");
                for (int i = 0; !done.get(); i++) {
                  try (Directory from = directory.openDirectory(FileName.of("tree"));
                      Directory to = directory.openDirectory(refuge)) {
                    from.rename(FileName.of("d3"), to, FileName.of("r" + i));
                  } catch (io.envapi.linux.LinuxException e) {
                    continue;
                  }
                }
              }
            });
    mover.start();
    try {
      for (int round = 0; round < 300; round++) {
        for (int i = 0; i < 6; i++) {
          on.run(Fixture.mkdir("tree/d" + i + "/e/f/g"));
        }
        on.ok(delete("tree", true), FileAnswer.Deleted.class);
        assertThat(on.at("tree")).doesNotExist();
      }
    } finally {
      done.set(true);
      mover.join();
    }
    // What was moved out of the tree in time is still there.
    assertThat(on.at("refuge")).isNotEmptyDirectory();
  }
}
