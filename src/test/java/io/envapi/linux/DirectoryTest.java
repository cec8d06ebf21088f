package io.envapi.linux;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class DirectoryTest {

  /** The two ways to open beneath a directory. */
  enum Way {
    KERNEL,
    WALK;

    FileDescriptor open(Directory directory, String path, int flags) {
      return this == KERNEL
          ? OpenHow.byKernel(directory.descriptor(), names(path), flags)
          : OpenHow.byWalk(directory.descriptor(), names(path), flags);
    }
  }

  @TempDir private Path temp;
  private Directory directory;

  @BeforeEach
  void open() {
    directory = Directory.open(temp);
  }

  @AfterEach
  void close() {
    directory.close();
  }

  private static List<FileName> names(String path) {
    return path.isEmpty() ? List.of() : Arrays.stream(path.split("/")).map(FileName::of).toList();
  }

  @ParameterizedTest
  @EnumSource
  void opensWhatIsBeneath(Way way) throws Exception {
    Files.createDirectories(temp.resolve("a/b"));
    Files.writeString(temp.resolve("a/b/c"), "text");
    try (DataFile file = new DataFile(way.open(directory, "a/b/c", 0))) {
      byte[] bytes = new byte[10];
      assertThat(file.read(bytes, 3, 7, 1)).isEqualTo(3);
      assertThat(new String(bytes, 3, 3, UTF_8)).isEqualTo("ext");
      assertThat(file.stat().size()).isEqualTo(4);
    }
    try (FileDescriptor itself = way.open(directory, "", OpenHow.O_DIRECTORY)) {
      assertThat(FileCalls.stat(itself).isSameFile(directory.stat())).isTrue();
    }
  }

  @ParameterizedTest
  @EnumSource
  void followsNoLink(Way way) throws Exception {
    Files.createDirectories(temp.resolve("real/deep"));
    Files.createSymbolicLink(temp.resolve("inside"), Path.of("real"));
    Files.createSymbolicLink(temp.resolve("outside"), Path.of("/etc"));
    Files.createSymbolicLink(temp.resolve("dangling"), Path.of("nowhere"));
    Files.createSymbolicLink(temp.resolve("loop"), Path.of("loop"));
    Files.createSymbolicLink(temp.resolve("magic"), Path.of("/proc/self/fd"));
    for (String path :
        List.of(
            "inside",
            "inside/deep",
            "outside/passwd",
            "dangling",
            "dangling/x",
            "loop",
            "magic/0")) {
      for (int flags : new int[] {0, OpenHow.O_PATH, OpenHow.O_DIRECTORY}) {
        assertThatThrownBy(() -> way.open(directory, path, flags).close())
            .as("%s with %x", path, flags)
            .isInstanceOfSatisfying(
                LinuxException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ELOOP));
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void tellsWhatIsMissing(Way way) throws Exception {
    Files.writeString(temp.resolve("file"), "");
    Map<String, Integer> expected =
        new TreeMap<>(
            Map.of(
                "missing",
                Errno.ENOENT,
                "missing/x",
                Errno.ENOENT,
                "file/x",
                Errno.ENOTDIR,
                "n".repeat(256),
                Errno.ENAMETOOLONG));
    expected.forEach(
        (path, errno) ->
            assertThatThrownBy(() -> way.open(directory, path, 0).close())
                .as(path)
                .isInstanceOfSatisfying(
                    LinuxException.class, e -> assertThat(e.errno()).isEqualTo(errno)));
  }

  @ParameterizedTest
  @EnumSource
  void staysOnItsMount(Way way) {
    try (Directory root = Directory.open(Path.of("/"))) {
      assertThatThrownBy(() -> way.open(root, "proc/self/status", 0).close())
          .isInstanceOfSatisfying(
              LinuxException.class, e -> assertThat(e.errno()).isIn(Errno.EXDEV, Errno.ELOOP));
    }
  }

  @Test
  void opensPathsLongerThanTheKernelTakes() {
    List<FileName> path = new ArrayList<>();
    FileName name = FileName.of("d".repeat(200));
    Directory at = directory.openDirectory(List.of());
    for (int i = 0; i < 50; i++) {
      at.makeDirectory(name, 0755);
      Directory next = at.openDirectory(name);
      at.close();
      at = next;
      path.add(name);
    }
    try (Directory last = at;
        Directory again = directory.openDirectory(path)) {
      assertThat(again.stat().isSameFile(last.stat())).isTrue();
    }
    // The JDK cannot remove such a path.
    for (int i = 49; i >= 0; i--) {
      try (Directory parent = directory.openDirectory(path.subList(0, i))) {
        parent.removeDirectory(name);
      }
    }
  }

  @Test
  void keepsNamesAsBytes() {
    List<byte[]> names =
        List.of(
            "new\nline".getBytes(UTF_8),
            "quote\"'".getBytes(UTF_8),
            "-rf".getBytes(UTF_8),
            "\ud83d\ude00".getBytes(UTF_8),
            "n".repeat(255).getBytes(UTF_8),
            "\u00ff\u00fe\u001b[31m".getBytes(ISO_8859_1));
    for (byte[] each : names) {
      directory.createFile(FileName.of(each)).close();
    }
    List<FileName> listed = new ArrayList<>();
    try (DirectoryReader reader = directory.entries()) {
      for (var next = reader.next(); next.isPresent(); next = reader.next()) {
        assertThat(next.get().kind()).isEqualTo(FileKind.REGULAR);
        listed.add(next.get().name());
      }
    }
    assertThat(listed)
        .containsExactlyInAnyOrderElementsOf(names.stream().map(FileName::of).toList());
    listed.forEach(directory::unlink);
    assertThat(temp).isEmptyDirectory();
  }

  @Test
  void tellsWhatStatTells() throws Exception {
    Path file = Files.writeString(temp.resolve("f"), "12345");
    Files.createLink(temp.resolve("g"), file);
    FileStat stat = directory.stat(FileName.of("f"));
    Map<String, Object> jdk = Files.readAttributes(file, "unix:*");
    assertThat(stat.kind()).isEqualTo(FileKind.REGULAR);
    assertThat(stat.mode()).isEqualTo((int) jdk.get("mode") & 07777);
    assertThat(stat.uid()).isEqualTo(jdk.get("uid"));
    assertThat(stat.gid()).isEqualTo(jdk.get("gid"));
    assertThat(stat.links()).isEqualTo(2);
    assertThat(stat.size()).isEqualTo(5);
    assertThat(stat.inode()).isEqualTo(jdk.get("ino"));
    assertThat(stat.modifiedSeconds())
        .isEqualTo(Files.getLastModifiedTime(file).toInstant().getEpochSecond());
    assertThat(stat.modifiedNanos())
        .isEqualTo(Files.getLastModifiedTime(file).toInstant().getNano());
  }

  @Test
  void aNewNameReplacesNothing() throws Exception {
    Files.writeString(temp.resolve("old"), "old");
    Files.writeString(temp.resolve("new"), "new");
    FileName old = FileName.of("old");
    FileName fresh = FileName.of("new");
    assertThatThrownBy(() -> directory.renameNew(fresh, directory, old))
        .isInstanceOfSatisfying(LinuxException.class, e -> assertThat(e.is(Errno.EEXIST)).isTrue());
    assertThatThrownBy(() -> directory.createFile(old).close())
        .isInstanceOfSatisfying(LinuxException.class, e -> assertThat(e.is(Errno.EEXIST)).isTrue());
    directory.rename(fresh, directory, old);
    assertThat(temp.resolve("old")).hasContent("new");
  }

  @Test
  void readsLinksWithoutFollowingThem() throws Exception {
    Files.createSymbolicLink(temp.resolve("l"), Path.of("/some/where"));
    assertThat(new String(directory.readLink(FileName.of("l")), UTF_8)).isEqualTo("/some/where");
    assertThat(directory.stat(FileName.of("l")).kind()).isEqualTo(FileKind.SYMLINK);
  }

  @Test
  void refusesWhatIsNoName() {
    for (String each : List.of("", ".", "..", "a/b", "a\0b")) {
      assertThatThrownBy(() -> FileName.of(each)).isInstanceOf(IllegalArgumentException.class);
    }
    assertThat(FileName.of("...").length()).isEqualTo(3);
  }
}
