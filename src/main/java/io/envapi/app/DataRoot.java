package io.envapi.app;

import io.envapi.id.HostId;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Optional;

/**
 * The directory that holds everything durable, locked for one service at a time. The lock is the
 * kernel's (fcntl(2)), so a service that was killed leaves none behind.
 */
final class DataRoot implements AutoCloseable {

  /** What opening came to. */
  sealed interface Outcome {}

  record Opened(DataRoot root) implements Outcome {}

  /**
   * @param holder the pid of the service that has the lock, where it could be read
   */
  record InUse(Optional<String> holder) implements Outcome {}

  private final Path path;
  private final FileChannel lock;
  private final HostId hostId;

  private DataRoot(Path path, FileChannel lock, HostId hostId) {
    this.path = path;
    this.lock = lock;
    this.hostId = hostId;
  }

  /** Makes the directory where it is missing, and takes its lock. */
  static Outcome open(Path path) throws IOException {
    Files.createDirectories(path);
    Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwx--x--x"));
    FileChannel channel =
        FileChannel.open(
            path.resolve("lock"),
            StandardOpenOption.CREATE,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE);
    Optional<FileLock> taken = tryLock(channel);
    if (taken.isEmpty()) {
      Optional<String> holder = holder(path);
      channel.close();
      return new InUse(holder);
    }
    channel.truncate(0);
    String pid = Long.toString(ProcessHandle.current().pid());
    channel.write(ByteBuffer.wrap(pid.getBytes(StandardCharsets.US_ASCII)), 0);
    return new Opened(new DataRoot(path, channel, hostId(path)));
  }

  private static Optional<FileLock> tryLock(FileChannel channel) throws IOException {
    try {
      return Optional.ofNullable(channel.tryLock());
    } catch (OverlappingFileLockException e) {
      return Optional.empty();
    }
  }

  private static Optional<String> holder(Path path) throws IOException {
    String pid = Files.readString(path.resolve("lock")).strip();
    return pid.isEmpty() ? Optional.empty() : Optional.of(pid);
  }

  private static HostId hostId(Path path) throws IOException {
    Path file = path.resolve("host-id");
    if (Files.exists(file)) {
      return new HostId(Files.readString(file).strip());
    }
    byte[] random = new byte[6];
    new SecureRandom().nextBytes(random);
    String id = "host_" + HexFormat.of().formatHex(random);
    Path fresh = path.resolve("host-id.new");
    Files.writeString(fresh, id + "\n");
    Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE);
    return new HostId(id);
  }

  /** The identity of this root, kept over restarts. */
  HostId hostId() {
    return hostId;
  }

  /** A directory of the service's own below the root; nobody else may enter it. */
  Path directory(String name) throws IOException {
    Path directory = path.resolve(name);
    Files.createDirectories(directory);
    Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx------"));
    return directory;
  }

  @Override
  public void close() throws IOException {
    lock.close();
  }
}
