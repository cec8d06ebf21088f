package io.envapi.audit;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.envapi.id.AccountId;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The events of one host in {@code audit.jsonl}, appended as they happen. A full file becomes
 * {@code audit.jsonl.1}, that one {@code audit.jsonl.2}, and so on; the last one goes. A line that
 * a crash cut off is closed at the next start and skipped by readers. Safe for use by several
 * threads.
 *
 * <p>What is appended survives the end of this process at any moment, not the machine's.
 */
public final class AuditLog implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(AuditLog.class);

  private static final long DEFAULT_FILE_BYTES = 16L << 20;
  private static final int DEFAULT_FILES = 10;

  private static final ObjectMapper JSON =
      JsonMapper.builder()
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .nodeFactory(new JsonNodeFactory(true))
          .build();

  private final Path directory;
  private final long maxFileBytes;
  private final int maxFiles;
  private FileChannel channel;

  private AuditLog(Path directory, long maxFileBytes, int maxFiles) throws IOException {
    this.directory = directory;
    this.maxFileBytes = maxFileBytes;
    this.maxFiles = maxFiles;
    this.channel = append(file(0));
  }

  /** Opens the log in {@code directory}, which is made if it is missing. */
  public static AuditLog open(Path directory) throws IOException {
    return open(directory, DEFAULT_FILE_BYTES, DEFAULT_FILES);
  }

  /**
   * @param maxFileBytes the size of a full file
   * @param maxFiles files kept, the current one included
   */
  static AuditLog open(Path directory, long maxFileBytes, int maxFiles) throws IOException {
    Files.createDirectories(
        directory,
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    var log = new AuditLog(directory, maxFileBytes, maxFiles);
    log.closeTornLine();
    return log;
  }

  /**
   * Appends an event before it returns. What it tells of has happened already, so a failure to
   * write is the operator's to know and not the caller's.
   */
  public void record(AuditEvent event) {
    try {
      byte[] json = JSON.writeValueAsBytes(event.json());
      ByteBuffer line = ByteBuffer.allocate(json.length + 1).put(json).put((byte) '\n').flip();
      write(line);
    } catch (IOException e) {
      LOG.error("the audit log lost a {} event: {}", event.action(), e.getClass().getSimpleName());
    }
  }

  /**
   * The newest events, oldest of them first. Reads from the disk.
   *
   * @param account whose events are wanted; empty for everybody's
   */
  public List<AuditEvent> newest(int limit, Optional<AccountId> account) throws IOException {
    var events = new ArrayList<AuditEvent>();
    List<FileChannel> files = openAll();
    try {
      for (FileChannel file : files) {
        var lines = new LinesBackwards(file);
        Optional<byte[]> line = lines.next();
        while (line.isPresent() && events.size() < limit) {
          parse(line.get())
              .filter(event -> account.isEmpty() || account.get().equals(event.account()))
              .ifPresent(events::add);
          line = lines.next();
        }
      }
    } finally {
      for (FileChannel file : files) {
        file.close();
      }
    }
    Collections.reverse(events);
    return events;
  }

  @Override
  public synchronized void close() throws IOException {
    channel.close();
  }

  private synchronized void write(ByteBuffer line) throws IOException {
    long size = channel.size();
    if (size > 0 && size + line.remaining() > maxFileBytes) {
      rotate();
    }
    while (line.hasRemaining()) {
      channel.write(line);
    }
  }

  private void rotate() throws IOException {
    channel.close();
    for (int number = maxFiles - 1; number > 0; number--) {
      if (Files.exists(file(number - 1))) {
        Files.move(file(number - 1), file(number), StandardCopyOption.REPLACE_EXISTING);
      }
    }
    channel = append(file(0));
  }

  /** The files from the newest on, as they are now whatever rotates later. */
  private synchronized List<FileChannel> openAll() throws IOException {
    var files = new ArrayList<FileChannel>();
    for (int number = 0; number < maxFiles; number++) {
      try {
        files.add(FileChannel.open(file(number), StandardOpenOption.READ));
      } catch (NoSuchFileException e) {
        return files;
      }
    }
    return files;
  }

  private synchronized void closeTornLine() throws IOException {
    long size = channel.size();
    if (size == 0) {
      return;
    }
    ByteBuffer last = ByteBuffer.allocate(1);
    try (FileChannel reader = FileChannel.open(file(0), StandardOpenOption.READ)) {
      reader.read(last, size - 1);
    }
    if (last.get(0) != '\n') {
      channel.write(ByteBuffer.wrap(new byte[] {'\n'}));
    }
  }

  private static Optional<AuditEvent> parse(byte[] line) {
    try {
      return Optional.ofNullable(JSON.readTree(line)).flatMap(AuditEvent::read);
    } catch (JacksonException e) {
      return Optional.empty();
    } catch (IOException e) {
      throw new IllegalStateException("reading from memory", e);
    }
  }

  private static FileChannel append(Path file) throws IOException {
    return FileChannel.open(
        file,
        Set.of(StandardOpenOption.CREATE, StandardOpenOption.APPEND),
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
  }

  private Path file(int number) {
    return directory.resolve(number == 0 ? "audit.jsonl" : "audit.jsonl." + number);
  }
}
