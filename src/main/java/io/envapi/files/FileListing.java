package io.envapi.files;

import io.envapi.linux.Directory;
import io.envapi.linux.DirectoryEntry;
import io.envapi.linux.FileKind;
import io.envapi.linux.FileName;
import io.envapi.linux.FileStat;
import io.envapi.linux.LinuxException;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Collects the rows of one listing. */
final class FileListing implements SortedWalk.Visitor {

  /** So many entries are looked at together, by more than one thread. */
  private static final int BATCH = 1024;

  /** Fewer are not worth another thread. */
  private static final int WORTH_SHARING = 64;

  /** An entry that belongs into the listing if it is still there. */
  private record Due(Directory in, List<FileName> above, FileName name, String text, String path) {}

  private final Optional<Glob> glob;
  private final int limit;
  private final int base;
  private final List<FileAnswer.Entry> rows = new ArrayList<>();
  private final List<Due> due = new ArrayList<>();
  private List<FileName> last = List.of();
  private List<FileName> parent = List.of();
  private String prefix = "";
  private boolean more;

  private FileListing(Optional<Glob> glob, int limit, int base) {
    this.glob = glob;
    this.limit = limit;
    this.base = base;
  }

  static FileAnswer.Listing list(WorkspaceRoot root, FileOperation.ListDirectory operation) {
    WorkspacePath path = root.path(operation.path(), "query", "path");
    List<FileName> after = operation.cursor().map(FileListing::names).orElse(List.of());
    int limit = Math.clamp(operation.limit(), 1, FileOperation.ListDirectory.MOST);
    FileListing listing =
        new FileListing(operation.glob().map(Glob::of), limit, path.names().size());
    try (Directory directory = root.openDirectory(path)) {
      new SortedWalk(operation.depth(), listing).run(directory, path.names(), after);
    } catch (LinuxException e) {
      throw Refusal.of(e, path.sent());
    }
    Optional<String> next = listing.more ? Optional.of(cursor(listing.last)) : Optional.empty();
    return new FileAnswer.Listing(path.shown(), listing.rows, next);
  }

  @Override
  public boolean visit(Directory in, List<FileName> above, DirectoryEntry entry) {
    String name = ShownName.of(entry.name());
    String shown = prefix(above) + name;
    if (glob.isPresent() && !glob.get().matches(name) && !glob.get().matches(shown)) {
      return true;
    }
    if (due.size() == BATCH || rows.size() + due.size() == limit) {
      look();
    }
    if (rows.size() == limit) {
      more = true;
      return false;
    }
    due.add(new Due(in, above, entry.name(), name, shown));
    return true;
  }

  @Override
  public void leaves() {
    look();
  }

  private void look() {
    if (due.isEmpty()) {
      return;
    }
    Stream<Due> all = due.size() < WORTH_SHARING ? due.stream() : due.parallelStream();
    rows.addAll(all.map(FileListing::row).flatMap(Optional::stream).toList());
    List<FileName> path = SortedWalk.path(due.getLast().above(), due.getLast().name());
    last = path.subList(base, path.size());
    due.clear();
  }

  /** What is before the name in a path that is shown; mostly that of the entry before. */
  private String prefix(List<FileName> in) {
    if (!in.equals(parent)) {
      parent = in;
      prefix = in.isEmpty() ? "" : ShownName.path(in) + "/";
    }
    return prefix;
  }

  @Override
  public void unavailable(List<FileName> path) {}

  /** Empty when it was deleted since the directory was read. */
  private static Optional<FileAnswer.Entry> row(Due due) {
    try {
      FileStat stat = due.in().stat(due.name());
      Optional<String> target =
          stat.kind() == FileKind.SYMLINK
              ? Optional.of(new String(due.in().readLink(due.name()), StandardCharsets.UTF_8))
              : Optional.empty();
      return Optional.of(
          new FileAnswer.Entry(
              due.text(),
              due.path(),
              kind(stat.kind()),
              stat.size(),
              TimeUnit.SECONDS.toMicros(stat.modifiedSeconds())
                  + TimeUnit.NANOSECONDS.toMicros(stat.modifiedNanos()),
              stat.mode(),
              stat.uid(),
              target,
              ShownName.base64(due.name())));
    } catch (LinuxException e) {
      return Optional.empty();
    }
  }

  private static FileAnswer.EntryKind kind(FileKind kind) {
    return switch (kind) {
      case REGULAR -> FileAnswer.EntryKind.FILE;
      case DIRECTORY -> FileAnswer.EntryKind.DIRECTORY;
      case SYMLINK -> FileAnswer.EntryKind.SYMLINK;
      case OTHER -> FileAnswer.EntryKind.OTHER;
    };
  }

  private static String cursor(List<FileName> names) {
    ByteArrayOutputStream path = new ByteArrayOutputStream();
    for (FileName name : names) {
      if (path.size() > 0) {
        path.write('/');
      }
      path.writeBytes(name.bytes());
    }
    return Base64.getUrlEncoder().withoutPadding().encodeToString(path.toByteArray());
  }

  private static List<FileName> names(String cursor) {
    try {
      String path = new String(Base64.getUrlDecoder().decode(cursor), StandardCharsets.ISO_8859_1);
      List<FileName> names = new ArrayList<>();
      for (String name : path.split("/", -1)) {
        names.add(FileName.of(name.getBytes(StandardCharsets.ISO_8859_1)));
      }
      return names;
    } catch (IllegalArgumentException e) {
      throw Refusal.invalid("cursor is none that was given out", "query", "cursor");
    }
  }
}
