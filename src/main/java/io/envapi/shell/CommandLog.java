package io.envapi.shell;

import io.envapi.id.CommandId;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import org.apache.pekko.util.ByteString;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The output of one command on disk, up to a cap; readable while it grows and after a restart.
 *
 * <p>The file appears with the first byte, so a silent command costs none. A full or broken disk
 * ends the log for good ({@link #truncated}) and not the command.
 */
final class CommandLog implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(CommandLog.class);

  private final Path file;
  private long cap;
  private Optional<FileChannel> channel = Optional.empty();
  private long bytes;
  private boolean truncated;

  /**
   * @param cap bytes kept at most
   */
  CommandLog(Path directory, CommandId command, long cap) {
    this.file = file(directory, command);
    this.cap = cap;
  }

  void append(ByteString data) {
    int room = (int) Math.min(data.size(), cap - bytes);
    truncated |= room < data.size();
    if (room == 0) {
      return;
    }
    try {
      FileChannel out = open();
      ByteBuffer source = ByteBuffer.wrap(data.toArrayUnsafe(), 0, room);
      while (source.hasRemaining()) {
        bytes += out.write(source);
      }
    } catch (IOException e) {
      LOG.warn("a command's log ends early: {}", e.getClass().getSimpleName());
      truncated = true;
      // What came later would be in the place of what is missing.
      cap = bytes;
    }
  }

  /** Bytes in the log. */
  long bytes() {
    return bytes;
  }

  /** Whether the command printed more than the log holds. */
  boolean truncated() {
    return truncated;
  }

  private FileChannel open() throws IOException {
    if (channel.isEmpty()) {
      // There may be one of a command of this number whose start could not be stored.
      channel =
          Optional.of(
              FileChannel.open(
                  file,
                  StandardOpenOption.CREATE,
                  StandardOpenOption.WRITE,
                  StandardOpenOption.TRUNCATE_EXISTING));
    }
    return channel.get();
  }

  @Override
  public void close() {
    if (channel.isPresent()) {
      try {
        channel.get().close();
      } catch (IOException e) {
        LOG.warn("a command's log could not be closed: {}", e.getClass().getSimpleName());
      }
      channel = Optional.empty();
    }
  }

  /**
   * At most {@code max} bytes of a command's log from {@code offset} on; empty where there are
   * none.
   */
  static ByteString read(Path directory, CommandId command, long offset, int max) {
    try (FileChannel in = FileChannel.open(file(directory, command), StandardOpenOption.READ)) {
      int size = (int) Math.max(0, Math.min(max, in.size() - offset));
      ByteBuffer target = ByteBuffer.allocate(size);
      int read = 0;
      while (target.hasRemaining() && read >= 0) {
        read = in.read(target, offset + target.position());
      }
      return ByteString.fromArrayUnsafe(target.array(), 0, target.position());
    } catch (NoSuchFileException e) {
      return ByteString.emptyByteString();
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  /** How many bytes a command's log holds now. */
  static long size(Path directory, CommandId command) {
    try {
      return Files.size(file(directory, command));
    } catch (IOException e) {
      return 0;
    }
  }

  private static Path file(Path directory, CommandId command) {
    return directory.resolve(command.value() + ".log");
  }
}
