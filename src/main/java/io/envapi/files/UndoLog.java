package io.envapi.files;

import io.envapi.linux.DataFile;
import io.envapi.linux.Directory;
import io.envapi.linux.Errno;
import io.envapi.linux.FileName;
import io.envapi.linux.LinuxException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a transaction does to names, each on the disk before it is done, so that what a crash cut
 * off can be taken back. Beside the workspace, where none of its processes can reach it.
 *
 * @param directory on this host; the log is in it while a transaction changes names
 */
record UndoLog(Path directory) {

  /** A name that is about to change. Paths are from the top of the workspace. */
  sealed interface Entry {}

  /** A file of the top takes a place, or changes places with what is there. */
  record Put(FileName file, List<FileName> target, long inode) implements Entry {
    Put {
      target = List.copyOf(target);
    }
  }

  record Move(List<FileName> source, List<FileName> target, long inode) implements Entry {
    Move {
      source = List.copyOf(source);
      target = List.copyOf(target);
    }
  }

  /** What is there is kept at the top until the end. */
  record Keep(List<FileName> path, FileName kept) implements Entry {
    Keep {
      path = List.copyOf(path);
    }
  }

  record MakeDirectory(List<FileName> path) implements Entry {
    MakeDirectory {
      path = List.copyOf(path);
    }
  }

  /** One that is being written. */
  static final class Open implements AutoCloseable {

    private final Directory in;
    private final DataFile file;
    private long size;
    private boolean ended;

    private Open(Directory in) {
      this.in = in;
      this.file = in.createFile(NAME);
      append(RUN);
      in.sync();
    }

    void before(Entry entry) {
      append(line(entry));
    }

    private void append(String line) {
      byte[] bytes = (line + "\n").getBytes(StandardCharsets.US_ASCII);
      file.write(bytes, 0, bytes.length, size);
      size += bytes.length;
      file.sync();
    }

    /** All of it was done, or all of it was taken back. */
    void end() {
      in.unlink(NAME);
      in.sync();
      ended = true;
    }

    @Override
    public void close() {
      try {
        if (!ended) {
          end();
        }
      } catch (LinuxException e) {
        // The next transaction of this service removes it; another service finds nothing to undo.
        ended = false;
      } finally {
        file.close();
        in.close();
      }
    }
  }

  private static final Logger LOG = LoggerFactory.getLogger(UndoLog.class);

  private static final String FILE = "transaction";
  private static final FileName NAME = FileName.of(FILE);

  /** The service that writes; what this one has begun it ends itself. */
  private static final String RUN = HexFormat.of().toHexDigits(new SecureRandom().nextLong());

  private static final HexFormat HEX = HexFormat.of();

  /** The workspace itself, as a path. */
  private static final String TOP = ".";

  Open begin() {
    Directory in = Directory.open(directory);
    try {
      remove(in);
      return new Open(in);
    } catch (LinuxException e) {
      in.close();
      throw e;
    }
  }

  private static void remove(Directory in) {
    try {
      in.unlink(NAME);
    } catch (LinuxException e) {
      if (!e.is(Errno.ENOENT)) {
        throw e;
      }
    }
  }

  /** Whether an earlier service left a transaction half done. */
  boolean isLeft() {
    return !lines().isEmpty();
  }

  /** Takes back what an earlier service left half done. Not while anything else changes names. */
  void recover(Directory top) {
    List<String> lines = lines();
    if (lines.isEmpty()) {
      return;
    }
    var undo = new Undo(top);
    lines.reversed().forEach(line -> entry(line).ifPresent(undo::quietly));
    top.sync();
    try (Directory in = Directory.open(directory)) {
      remove(in);
      in.sync();
    }
  }

  /** What an earlier service wrote, but for its first line and one that was cut off. */
  private List<String> lines() {
    String text;
    try {
      text = Files.readString(directory.resolve(FILE), StandardCharsets.ISO_8859_1);
    } catch (IOException e) {
      return List.of();
    }
    List<String> whole = text.substring(0, text.lastIndexOf('\n') + 1).lines().toList();
    return whole.isEmpty() || whole.getFirst().equals(RUN)
        ? List.of()
        : whole.subList(1, whole.size());
  }

  private static String line(Entry entry) {
    return switch (entry) {
      case Put(var file, var target, var inode) ->
          String.join(" ", "put", hex(file), path(target), Long.toString(inode));
      case Move(var source, var target, var inode) ->
          String.join(" ", "move", path(source), path(target), Long.toString(inode));
      case Keep(var path, var kept) -> String.join(" ", "keep", path(path), hex(kept));
      case MakeDirectory(var path) -> String.join(" ", "mkdir", path(path));
    };
  }

  /** Empty for a line that a machine without power did not write whole. */
  private static Optional<Entry> entry(String line) {
    try {
      return Optional.of(parse(line.split(" ", -1)));
    } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
      LOG.warn("a line of a transaction that was cut off is not readable");
      return Optional.empty();
    }
  }

  private static Entry parse(String[] words) {
    return switch (words[0]) {
      case "put" -> new Put(name(words[1]), names(words[2]), Long.parseLong(words[3]));
      case "move" -> new Move(names(words[1]), names(words[2]), Long.parseLong(words[3]));
      case "keep" -> new Keep(names(words[1]), name(words[2]));
      case "mkdir" -> new MakeDirectory(names(words[1]));
      default -> throw new IllegalArgumentException("not an entry");
    };
  }

  private static String hex(FileName name) {
    return HEX.formatHex(name.bytes());
  }

  private static String path(List<FileName> names) {
    return names.isEmpty()
        ? TOP
        : names.stream().map(UndoLog::hex).collect(Collectors.joining("/"));
  }

  private static FileName name(String hex) {
    return FileName.of(HEX.parseHex(hex));
  }

  private static List<FileName> names(String path) {
    return path.equals(TOP)
        ? List.of()
        : Stream.of(path.split("/", -1)).map(UndoLog::name).toList();
  }

  /** Takes entries back, the latest first. What was not done yet is left as it is. */
  private record Undo(Directory top) {

    void quietly(Entry entry) {
      try {
        undo(entry);
      } catch (LinuxException e) {
        // Not done yet, or a process of the workspace came between.
        return;
      }
    }

    private void undo(Entry entry) {
      switch (entry) {
        case Put(var file, var target, var inode) -> {
          if (top.stat(target).inode() == inode) {
            takeBack(file, target);
          }
        }
        case Move(var source, var target, var inode) -> {
          if (top.stat(target).inode() == inode) {
            rename(target, source);
          }
        }
        case Keep(var path, var kept) -> rename(List.of(kept), path);
        case MakeDirectory(var path) -> {
          try (Directory in = parent(path)) {
            in.removeDirectory(path.getLast());
          }
        }
      }
    }

    private void takeBack(FileName file, List<FileName> target) {
      try (Directory in = parent(target)) {
        try {
          in.exchange(target.getLast(), top, file);
        } catch (LinuxException e) {
          // Nothing was there before.
          TemporaryFile.renameNew(in, target.getLast(), top, file);
        }
        in.sync();
      }
    }

    private void rename(List<FileName> from, List<FileName> to) {
      try (Directory source = parent(from);
          Directory target = parent(to)) {
        TemporaryFile.renameNew(source, from.getLast(), target, to.getLast());
        source.sync();
        target.sync();
      }
    }

    private Directory parent(List<FileName> path) {
      return top.openDirectory(path.subList(0, path.size() - 1));
    }
  }
}
