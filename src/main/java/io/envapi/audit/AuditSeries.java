package io.envapi.audit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lines on the disk: a file that is written, and the full ones before it, numbered as they came
 * ({@code audit-00000001.jsonl}). The oldest of them go when there are too many bytes, or when they
 * are too old; that is looked at when a file is full and at the start. One thread appends; any may
 * read.
 */
final class AuditSeries implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(AuditSeries.class);

  /** A full file. */
  private record Full(Path path, long number) {}

  private final Path directory;
  private final Path current;
  private final String numbered;
  private final Pattern fullName;
  private final AuditSizes sizes;
  private FileChannel channel;

  /**
   * @param name what the files' names begin with
   */
  AuditSeries(Path directory, String name, AuditSizes sizes) throws IOException {
    this.directory = directory;
    this.current = directory.resolve(name + ".jsonl");
    this.numbered = name + "-%08d.jsonl";
    this.fullName = Pattern.compile(Pattern.quote(name) + "-(\\d{8,18})\\.jsonl");
    this.sizes = sizes;
    Files.createDirectories(
        directory,
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    this.channel = append();
    closeTornLine();
    tidy();
  }

  /**
   * Appends what remains of the line. What a failure left unwritten remains in it, so that the next
   * call goes on where this one stopped.
   */
  void append(ByteBuffer line) throws IOException {
    if (!channel.isOpen()) {
      channel = append();
    }
    boolean begun = line.position() > 0;
    long size = channel.size();
    if (!begun && size > 0 && size + line.remaining() > sizes.fileBytes()) {
      rotate();
    }
    while (line.hasRemaining()) {
      channel.write(line);
    }
  }

  private synchronized void rotate() throws IOException {
    channel.close();
    List<Full> full = full();
    long number = full.isEmpty() ? 1 : full.getLast().number() + 1;
    Files.move(current, directory.resolve(numbered.formatted(number)));
    channel = append();
    tidy();
  }

  /** What cannot be removed is tried again; it keeps nobody from writing. */
  private void tidy() {
    try {
      Instant oldest = Instant.now().minus(sizes.retention());
      List<Full> full = full();
      long bytes = sizes.fileBytes();
      for (Full file : full) {
        bytes += Files.size(file.path());
      }
      for (Full file : full) {
        boolean old = Files.getLastModifiedTime(file.path()).toInstant().isBefore(oldest);
        if (bytes <= sizes.seriesBytes() && !old) {
          return;
        }
        bytes -= Files.size(file.path());
        Files.delete(file.path());
      }
    } catch (IOException e) {
      LOG.warn("old files of the audit log cannot be removed ({})", e.getClass().getSimpleName());
    }
  }

  /**
   * The newest files, from the newest on, as they are now whatever is set aside later.
   *
   * @param bytes that they hold together at least, if there are so many
   */
  synchronized List<FileChannel> open(long bytes) throws IOException {
    var paths = new ArrayList<Path>(List.of(current));
    full().reversed().forEach(file -> paths.add(file.path()));
    var files = new ArrayList<FileChannel>();
    long opened = 0;
    try {
      for (Path path : paths) {
        if (opened >= bytes) {
          break;
        }
        FileChannel file = FileChannel.open(path, StandardOpenOption.READ);
        files.add(file);
        opened += file.size();
      }
      return files;
    } catch (IOException e) {
      for (FileChannel file : files) {
        file.close();
      }
      throw e;
    }
  }

  /** From the oldest on. */
  private List<Full> full() throws IOException {
    try (Stream<Path> all = Files.list(directory)) {
      return all.<Full>mapMulti(
              (path, found) -> {
                Matcher name = fullName.matcher(path.getFileName().toString());
                if (name.matches()) {
                  found.accept(new Full(path, Long.parseLong(name.group(1))));
                }
              })
          .sorted(Comparator.comparingLong(Full::number))
          .toList();
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  private void closeTornLine() throws IOException {
    long size = channel.size();
    if (size == 0) {
      return;
    }
    ByteBuffer last = ByteBuffer.allocate(1);
    try (FileChannel reader = FileChannel.open(current, StandardOpenOption.READ)) {
      reader.read(last, size - 1);
    }
    if (last.get(0) != '\n') {
      channel.write(ByteBuffer.wrap(new byte[] {'\n'}));
    }
  }

  private FileChannel append() throws IOException {
    return FileChannel.open(
        current,
        Set.of(StandardOpenOption.CREATE, StandardOpenOption.APPEND),
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
