package io.envapi.files;

import io.envapi.linux.DirectoryEntry;
import io.envapi.linux.DirectoryReader;
import io.envapi.linux.FileKind;
import io.envapi.linux.FileName;
import io.envapi.linux.FileStat;
import io.envapi.linux.LinuxException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;

/**
 * An archive of a tree that is made while it is read, one piece after another, so that nothing of
 * it is stored. What cannot be read, sockets and devices are left out; what vanishes meanwhile too.
 * A file that shrinks while it is packed is filled up with zeros: its length was written before.
 */
final class ArchivePacking implements OpenTransfer {

  private static final int PIECE = 64 * 1024;
  private static final int MOST_ENTRIES = 1_000_000;

  private record Level(List<FileName> path, Iterator<DirectoryEntry> entries) {}

  private static final class Buffer extends ByteArrayOutputStream {
    byte[] take(int most) {
      byte[] taken = Arrays.copyOf(buf, Math.min(most, count));
      System.arraycopy(buf, taken.length, buf, 0, count - taken.length);
      count -= taken.length;
      return taken;
    }
  }

  private final WorkspaceRoot root;
  private final WorkspacePath path;
  private final int base;
  private final Buffer buffer = new Buffer();
  private final ArchiveWriter writer;
  private final Deque<Level> levels = new ArrayDeque<>();
  private Optional<WorkspaceRoot.Opened> file = Optional.empty();
  private long filePosition;
  private long delivered;
  private boolean finished;

  private ArchivePacking(WorkspaceRoot root, WorkspacePath path, int base, ArchiveFormat format) {
    this.root = root;
    this.path = path;
    this.base = base;
    this.writer = ArchiveWriter.of(format, buffer);
  }

  /** An archive of what is in a directory, or of one file. */
  static ArchivePacking open(WorkspaceRoot root, WorkspacePath path, ArchiveFormat format) {
    FileStat stat = path.isRoot() ? root.directory().stat() : root.require(path);
    return switch (stat.kind()) {
      case DIRECTORY -> {
        var packing = new ArchivePacking(root, path, path.names().size(), format);
        packing.enter(path.names());
        yield packing;
      }
      case REGULAR -> {
        var packing = new ArchivePacking(root, path, path.names().size() - 1, format);
        var itself = new DirectoryEntry(path.name(), FileKind.REGULAR);
        packing.levels.push(new Level(path.parent(), List.of(itself).iterator()));
        yield packing;
      }
      case SYMLINK, OTHER -> throw Refusal.missing(path.sent());
    };
  }

  @Override
  public SentPath path() {
    return path.sent();
  }

  @Override
  public synchronized TransferAnswer read(TransferStep.Read read) {
    if (read.offset() != delivered) {
      throw Refusal.conflict("the pieces of the transfer are out of order");
    }
    int wanted = Math.clamp(read.length(), 1, FileBytes.MOST);
    try {
      while (buffer.size() < wanted && !finished) {
        step();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    byte[] piece = buffer.take(wanted);
    delivered += piece.length;
    return new TransferAnswer.Piece(new FileBytes(piece));
  }

  private void step() throws IOException {
    if (file.isPresent()) {
      pack(file.get());
    } else if (levels.isEmpty()) {
      writer.finish();
      finished = true;
    } else if (levels.element().entries().hasNext()) {
      Level level = levels.element();
      List<FileName> names = new ArrayList<>(level.path());
      DirectoryEntry entry = level.entries().next();
      names.add(entry.name());
      try {
        add(names, entry.kind());
      } catch (LinuxException | Refusal e) {
        // Gone, not readable, or a link where a directory was: not in the archive.
        return;
      }
    } else {
      levels.pop();
    }
  }

  private void add(List<FileName> names, FileKind kind) throws IOException {
    List<FileName> shown = names.subList(base, names.size());
    switch (kind) {
      case DIRECTORY -> {
        FileStat stat = root.directory().stat(names);
        enter(names);
        writer.directory(shown, stat);
      }
      case REGULAR -> {
        WorkspaceRoot.Opened opened = root.open(new WorkspacePath(names, List.of(), path.sent()));
        file = Optional.of(opened);
        filePosition = 0;
        writer.beginFile(shown, opened.stat());
        if (opened.stat().size() == 0) {
          endFile(opened);
        }
      }
      case SYMLINK -> {
        try (var in = root.directory().openDirectory(names.subList(0, names.size() - 1))) {
          writer.link(shown, in.stat(names.getLast()), in.readLink(names.getLast()));
        }
      }
      case OTHER -> {}
    }
  }

  private void enter(List<FileName> names) {
    List<DirectoryEntry> entries = new ArrayList<>();
    try (var directory = root.directory().openDirectory(names);
        DirectoryReader reader = directory.entries()) {
      for (var next = reader.next(); next.isPresent(); next = reader.next()) {
        if (!TemporaryFile.isDebris(next.get().name())) {
          entries.add(next.get());
        }
        if (entries.size() > MOST_ENTRIES) {
          throw Refusal.invalid("a directory has too many entries", "query", "path");
        }
      }
    }
    entries.sort(Comparator.comparing(DirectoryEntry::name));
    levels.push(new Level(List.copyOf(names), entries.iterator()));
  }

  private void pack(WorkspaceRoot.Opened opened) throws IOException {
    long left = opened.stat().size() - filePosition;
    byte[] piece = new byte[(int) Math.min(PIECE, left)];
    int read = opened.file().read(piece, 0, piece.length, filePosition);
    int length = read == 0 ? piece.length : read;
    writer.content(piece, length);
    filePosition += length;
    if (filePosition == opened.stat().size()) {
      endFile(opened);
    }
  }

  private void endFile(WorkspaceRoot.Opened opened) throws IOException {
    file = Optional.empty();
    opened.close();
    writer.endFile();
  }

  @Override
  public synchronized void close() {
    file.ifPresent(WorkspaceRoot.Opened::close);
    file = Optional.empty();
    levels.clear();
    finished = true;
    writer.abandon();
  }
}
