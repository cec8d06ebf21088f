package io.envapi.audit;

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
import java.util.List;
import java.util.Set;

/**
 * The lines on the disk. A full file becomes {@code audit.jsonl.1}, that one {@code audit.jsonl.2},
 * and so on; the last one goes. One thread appends; any may read.
 */
final class AuditFile implements AutoCloseable {

  private final Path directory;
  private final long maxFileBytes;
  private final int maxFiles;
  private FileChannel channel;

  /**
   * @param maxFileBytes the size of a full file
   * @param maxFiles files kept, the current one included
   */
  AuditFile(Path directory, long maxFileBytes, int maxFiles) throws IOException {
    this.directory = directory;
    this.maxFileBytes = maxFileBytes;
    this.maxFiles = maxFiles;
    Files.createDirectories(
        directory,
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    this.channel = append(file(0));
    closeTornLine();
  }

  /**
   * Appends what remains of the line. What a failure left unwritten remains in it, so that the next
   * call goes on where this one stopped.
   */
  void append(ByteBuffer line) throws IOException {
    if (!channel.isOpen()) {
      channel = append(file(0));
    }
    boolean begun = line.position() > 0;
    long size = channel.size();
    if (!begun && size > 0 && size + line.remaining() > maxFileBytes) {
      rotate();
    }
    while (line.hasRemaining()) {
      channel.write(line);
    }
  }

  private synchronized void rotate() throws IOException {
    channel.close();
    for (int number = maxFiles - 1; number > 0; number--) {
      if (Files.exists(file(number - 1))) {
        Files.move(file(number - 1), file(number), StandardCopyOption.REPLACE_EXISTING);
      }
    }
    channel = append(file(0));
  }

  /** The files from the newest on, as they are now whatever rotates later. */
  synchronized List<FileChannel> openAll() throws IOException {
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

  private void closeTornLine() throws IOException {
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

  private static FileChannel append(Path file) throws IOException {
    return FileChannel.open(
        file,
        Set.of(StandardOpenOption.CREATE, StandardOpenOption.APPEND),
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
  }

  private Path file(int number) {
    return directory.resolve(number == 0 ? "audit.jsonl" : "audit.jsonl." + number);
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
