package io.envapi.files;

import io.envapi.failure.Failure;
import io.envapi.linux.Directory;
import io.envapi.linux.DirectoryEntry;
import io.envapi.linux.FileKind;
import io.envapi.linux.FileName;
import io.envapi.linux.FileStat;
import io.envapi.linux.LinuxException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/** Collects the matches of one search, one file at a time. */
final class FileSearch implements SortedWalk.Visitor {

  private static final int LARGEST_FILE = 16 << 20;
  private static final int MOST_MATCHES = 1000;

  /** The most files named in each list of skipped ones. */
  private static final int MOST_SKIPPED = 10_000;

  /** The most text in an answer, in characters. */
  private static final long MOST_TEXT = 8 << 20;

  private static final Duration LONGEST = Duration.ofSeconds(30);

  private final WorkspaceRoot root;
  private final FileOperation.Search search;
  private final Optional<Glob> glob;
  private final LineSearch lines;
  private Optional<GitIgnore> ignore = Optional.empty();
  private final int largest;
  private final int limit;
  private final Deadline deadline;

  private final List<FileAnswer.Match> matches = new ArrayList<>();
  private final List<String> binary = new ArrayList<>();
  private final List<String> large = new ArrayList<>();
  private final List<String> unavailable = new ArrayList<>();
  private long total;
  private long text;
  private boolean complete = true;

  private FileSearch(WorkspaceRoot root, FileOperation.Search search, Deadline deadline) {
    this.root = root;
    this.search = search;
    this.glob = search.glob().map(Glob::of);
    this.deadline = deadline;
    this.lines = new LineSearch(search, deadline);
    this.largest = Math.clamp(search.maxFileBytes(), 1, LARGEST_FILE);
    this.limit = Math.clamp(search.limit(), 1, MOST_MATCHES);
  }

  /**
   * @param unwanted whether the search should end with what it has
   */
  static FileAnswer.Found search(
      WorkspaceRoot root, FileOperation.Search operation, BooleanSupplier unwanted) {
    if (operation.pattern().isEmpty()) {
      throw Refusal.invalid("pattern is empty", "query", "pattern");
    }
    WorkspacePath path = root.path(operation.path(), "query", "path");
    FileSearch search = new FileSearch(root, operation, Deadline.in(LONGEST, unwanted));
    FileStat stat = root.require(path);
    try {
      if (stat.kind() == FileKind.REGULAR) {
        search.one(path);
      } else {
        search.tree(path);
      }
    } catch (LinuxException e) {
      throw Refusal.of(e, path.sent());
    }
    return search.found();
  }

  private void one(WorkspacePath path) {
    ignoreFrom(path.parent());
    try (Directory in = root.directory().openDirectory(path.parent())) {
      visit(in, path.parent(), new DirectoryEntry(path.name(), FileKind.REGULAR));
    }
  }

  private void tree(WorkspacePath path) {
    ignoreFrom(path.names());
    try (Directory directory = root.openDirectory(path)) {
      new SortedWalk(search.depth(), this).run(directory, path.names(), List.of());
    }
  }

  private void ignoreFrom(List<FileName> start) {
    if (search.gitignore()) {
      ignore = Optional.of(new GitIgnore(root, start));
    }
  }

  private FileAnswer.Found found() {
    boolean truncated = total > matches.size();
    return new FileAnswer.Found(total, truncated, matches, binary, large, unavailable, complete);
  }

  @Override
  public boolean visit(Directory in, List<FileName> above, DirectoryEntry entry) {
    if (deadline.isOver()) {
      complete = false;
      return false;
    }
    if (entry.kind() != FileKind.REGULAR) {
      return true;
    }
    List<FileName> path = SortedWalk.path(above, entry.name());
    if (ignore.isPresent() && ignore.get().ignores(in, path, false)) {
      return true;
    }
    String shown = ShownName.path(path);
    if (glob.isEmpty()
        || glob.get().matches(ShownName.of(entry.name()))
        || glob.get().matches(shown)) {
      return searched(in, entry.name(), shown);
    }
    return true;
  }

  /** Whether there was time for all of it. */
  private boolean searched(Directory in, FileName name, String path) {
    try {
      file(in, name, path);
      return true;
    } catch (TimedText.TimeIsUp e) {
      complete = false;
      return false;
    }
  }

  @Override
  public boolean enters(Directory in, List<FileName> path) {
    return ignore.isEmpty() || !ignore.get().ignores(in, path, true);
  }

  @Override
  public void unavailable(List<FileName> path) {
    skip(unavailable, ShownName.path(path));
  }

  private void file(Directory in, FileName name, String path) {
    try {
      Optional<WorkspaceRoot.Opened> opened = root.open(in, name);
      if (opened.isEmpty()) {
        skip(unavailable, path);
        return;
      }
      byte[] content;
      try (WorkspaceRoot.Opened file = opened.get()) {
        content = ContentScan.readAll(file.file(), largest);
      }
      if (new Utf8Scan().accept(content, 0, content.length).isText()) {
        collect(path, content);
      } else {
        skip(binary, path);
      }
    } catch (LinuxException e) {
      skip(unavailable, path);
    } catch (Refusal e) {
      if (e.failure() instanceof Failure.TooLarge) {
        skip(large, path);
      } else {
        throw e;
      }
    }
  }

  private void skip(List<String> list, String path) {
    if (list.size() < MOST_SKIPPED) {
      list.add(path);
    } else {
      complete = false;
    }
  }

  private void collect(String path, byte[] content) {
    switch (search.mode()) {
      case CONTENT -> {
        int room = text < MOST_TEXT ? limit - matches.size() : 0;
        LineSearch.Lines found = lines.find(content, room);
        total += found.total();
        for (List<FileAnswer.Line> each : found.matches()) {
          text += each.stream().mapToLong(line -> line.text().length()).sum();
          if (text < MOST_TEXT) {
            matches.add(new FileAnswer.Match(path, each));
          }
        }
      }
      case FILES_WITH_MATCHES -> {
        if (lines.isIn(content)) {
          total++;
          if (matches.size() < limit) {
            matches.add(new FileAnswer.Match(path, List.of()));
          }
        }
      }
    }
  }
}
