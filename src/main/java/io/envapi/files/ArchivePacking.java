package io.envapi.files;

import io.envapi.linux.Directory;
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
import java.util.function.Supplier;

/**
 * An archive of a tree that is made while it is read, one piece after another, so that nothing of
 * it is stored. What cannot be read, sockets and devices are left out; what vanishes meanwhile too.
 * A file that shrinks while it is packed is filled up with zeros: its length was written before.
 */
final class ArchivePacking implements OpenTransfer {

  private static final int PIECE = 64 * 1024;
  private static final int MOST_ENTRIES = 1_000_000;

  /** A directory between the first and the current one, which alone is open. */
  private record Level(List<FileName> path, FileStat stat, Iterator<DirectoryEntry> entries) {}

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
  private Directory at;
  private Optional<WorkspaceRoot.Opened> file = Optional.empty();
  private long filePosition;
  private long delivered;
  private boolean finished;
  private volatile boolean abandoned;

  /**
   * @param at where it begins; closed with this
   */
  private ArchivePacking(
      WorkspaceRoot root, WorkspacePath path, Directory at, int base, ArchiveFormat format) {
    this.root = root;
    this.path = path;
    this.at = at;
    this.base = base;
    this.writer = ArchiveWriter.of(format, buffer);
  }

  /** An archive of what is in a directory, or of one file. */
  static ArchivePacking open(WorkspaceRoot root, WorkspacePath path, ArchiveFormat format) {
    FileStat stat = path.isRoot() ? root.directory().stat() : root.require(path);
    return switch (stat.kind()) {
      case DIRECTORY -> {
        Directory itself = root.openDirectory(path);
        var packing = new ArchivePacking(root, path, itself, path.names().size(), format);
        packing.begin(path.names(), () -> entries(itself));
        yield packing;
      }
      case REGULAR -> {
        Directory parent = root.directory().openDirectory(path.parent());
        var packing = new ArchivePacking(root, path, parent, path.names().size() - 1, format);
        var itself = new DirectoryEntry(path.name(), FileKind.REGULAR);
        packing.begin(path.parent(), () -> List.of(itself));
        yield packing;
      }
      case SYMLINK, OTHER -> throw Refusal.missing(path.sent());
    };
  }

  private void begin(List<FileName> names, Supplier<List<DirectoryEntry>> entries) {
    try {
      push(names, entries.get());
    } catch (LinuxException | Refusal e) {
      close();
      throw e;
    }
  }

  @Override
  public SentPath path() {
    return path.sent();
  }

  @Override
  public void abandon() {
    abandoned = true;
  }

  @Override
  public synchronized TransferAnswer read(TransferStep.Read read) {
    if (read.offset() != delivered) {
      throw Refusal.conflict("the pieces of the transfer are out of order");
    }
    int wanted = Math.clamp(read.length(), 1, FileBytes.MOST);
    try {
      // A piece of many small entries takes long.
      while (buffer.size() < wanted && !finished && !abandoned) {
        step();
      }
      if (abandoned) {
        throw Refusal.conflict("the transfer has ended");
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
      leave();
    }
  }

  private void add(List<FileName> names, FileKind kind) throws IOException {
    List<FileName> shown = names.subList(base, names.size());
    switch (kind) {
      case DIRECTORY -> {
        enter(names);
        writer.directory(shown, levels.element().stat());
      }
      case REGULAR -> {
        Optional<WorkspaceRoot.Opened> readable = root.open(at, names.getLast());
        if (readable.isEmpty()) {
          return;
        }
        WorkspaceRoot.Opened opened = readable.get();
        file = readable;
        filePosition = 0;
        writer.beginFile(shown, opened.stat());
        if (opened.stat().size() == 0) {
          endFile(opened);
        }
      }
      case SYMLINK -> writer.link(shown, at.stat(names.getLast()), at.readLink(names.getLast()));
      case OTHER -> {}
    }
  }

  private void enter(List<FileName> names) {
    Directory above = at;
    Directory next = above.openDirectory(names.getLast());
    try {
      at = next;
      push(names, entries(next));
    } catch (LinuxException | Refusal e) {
      at = above;
      next.close();
      throw e;
    }
    above.close();
  }

  private void push(List<FileName> names, List<DirectoryEntry> entries) {
    levels.push(new Level(List.copyOf(names), at.stat(), entries.iterator()));
  }

  private static List<DirectoryEntry> entries(Directory directory) {
    List<DirectoryEntry> entries = new ArrayList<>();
    try (DirectoryReader reader = directory.entries()) {
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
    return entries;
  }

  /** Goes up. What was moved away meanwhile is not in the archive any further. */
  private void leave() {
    levels.pop();
    while (!levels.isEmpty()) {
      Optional<Directory> above = above(levels.element());
      if (above.isPresent()) {
        at.close();
        at = above.get();
        return;
      }
      levels.pop();
    }
  }

  /** By the names from the top only where it is not simply the one above: that takes long. */
  private Optional<Directory> above(Level level) {
    return same(level, () -> at.openParent())
        .or(() -> same(level, () -> root.directory().openDirectory(level.path())));
  }

  private static Optional<Directory> same(Level level, Supplier<Directory> opening) {
    try {
      Directory opened = opening.get();
      if (opened.stat().isSameFile(level.stat())) {
        return Optional.of(opened);
      }
      opened.close();
      return Optional.empty();
    } catch (LinuxException e) {
      return Optional.empty();
    }
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
    at.close();
    finished = true;
    writer.abandon();
  }
}
