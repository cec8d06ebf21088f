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
import java.util.regex.Pattern;

/**
 * The directory that holds everything durable, locked for one service at a time. The lock is the
 * kernel's (fcntl(2)), so a service that was killed leaves none behind.
 */
final class DataRoot implements AutoCloseable {

  private static final Pattern ID = Pattern.compile("host_[0-9a-f]{12}");

  /** What opening came to. */
  sealed interface Outcome {}

  record Opened(DataRoot root) implements Outcome {}

  /**
   * @param holder the pid of the service that has the lock, where it could be read
   */
  record InUse(Optional<String> holder) implements Outcome {}

  /** The directory cannot be made or written, or what is in it cannot be used. */
  record Unusable(String why) implements Outcome {}

  private final Path path;
  private final FileChannel lock;
  private final HostId hostId;

  private DataRoot(Path path, FileChannel lock, HostId hostId) {
    this.path = path;
    this.lock = lock;
    this.hostId = hostId;
  }

  /** Makes the directory where it is missing, and takes its lock. */
  static Outcome open(Path path) {
    try {
      make(path);
      return locked(path);
    } catch (IOException e) {
      return unusable(path, e);
    }
  }

  /** Why nothing can be kept in the directory, which is made where it is missing. */
  static Optional<Unusable> fault(Path path) {
    try {
      make(path);
      Files.delete(Files.createTempFile(path, "probe", ""));
      return Optional.empty();
    } catch (IOException e) {
      return Optional.of(unusable(path, e));
    }
  }

  private static void make(Path path) throws IOException {
    Files.createDirectories(path);
    Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwx--x--x"));
  }

  private static Unusable unusable(Path path, IOException e) {
    return new Unusable(
        "the data root %s cannot be written (%s: %s): set ENVAPI_ROOT to a directory that can"
            .formatted(path, e.getClass().getSimpleName(), e.getMessage()));
  }

  private static Outcome locked(Path path) throws IOException {
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
    Optional<HostId> hostId = hostId(path);
    if (hostId.isEmpty()) {
      channel.close();
      return new Unusable(
          "the file host-id in the data root does not hold a host's id: restore it, since everything"
              + " in the journal belongs to the host it named");
    }
    return new Opened(new DataRoot(path, channel, hostId.get()));
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

  /** Of this root, given to it at the first start; empty when the file holds something else. */
  private static Optional<HostId> hostId(Path path) throws IOException {
    Path file = path.resolve("host-id");
    if (Files.exists(file)) {
      String stored = Files.readString(file).strip();
      return ID.matcher(stored).matches() ? Optional.of(new HostId(stored)) : Optional.empty();
    }
    byte[] random = new byte[6];
    new SecureRandom().nextBytes(random);
    String id = "host_" + HexFormat.of().formatHex(random);
    Path fresh = path.resolve("host-id.new");
    Files.writeString(fresh, id + "\n");
    Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE);
    return Optional.of(new HostId(id));
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
