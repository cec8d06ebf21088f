package io.envapi.sandbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.envapi.id.EnvironmentId;
import io.envapi.linux.Credentials;
import io.envapi.linux.ExitStatus;
import io.envapi.linux.Run;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DirectoriesTest {

  @TempDir private Path root;

  @Test
  void whatCannotBeDeletedIsTold() throws Exception {
    var directories = new Directories(root, Run.SPAWNER);
    EnvironmentId id = EnvironmentId.random();
    int uid = Credentials.current().uid();
    Workspace workspace = directories.workspace(id, uid);
    assertThat(directories.wipe(workspace)).isTrue();
    assertThat(directories.remove(workspace)).isTrue();
    directories.prepare(id, uid, OptionalInt.empty());
    Path held = Files.createDirectory(workspace.files().resolve("held"));
    assumeTrue(
        Run.run("mount -t tmpfs tmpfs " + held).status().equals(new ExitStatus.Exited(0)),
        "mounting a tmpfs needs CAP_SYS_ADMIN");
    try {
      Files.writeString(workspace.logs().resolve("log"), "x");
      assertThat(directories.wipe(workspace)).isFalse();
      assertThat(workspace.logs()).isEmptyDirectory();
      assertThat(directories.remove(workspace)).isFalse();
    } finally {
      Run.run("umount --lazy " + held);
    }
    assertThat(directories.wipe(workspace)).isTrue();
    assertThat(directories.remove(workspace)).isTrue();
    assertThat(workspace.root()).doesNotExist();
  }
}
