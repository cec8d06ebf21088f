package io.envapi.files;

import io.envapi.linux.Directory;
import io.envapi.linux.DirectoryEntry;
import io.envapi.linux.DirectoryReader;
import io.envapi.linux.Errno;
import io.envapi.linux.FileKind;
import io.envapi.linux.FileName;
import io.envapi.linux.Inotify;
import io.envapi.linux.LinuxException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Watches a directory and some levels below it. The kernel collects what happens; it is looked at
 * when somebody asks, and the latest is kept for whoever lost the connection. A directory that is
 * new is watched from then on, and what is in it already counts as created.
 */
final class FileWatch implements OpenTransfer {

  /** The most directories one watch takes from the host. */
  private static final int MOST_DIRECTORIES = 4096;

  private static final int MOST_KEPT = 4096;
  private static final int MOST_DEPTH = 10;

  private final WorkspaceRoot root;
  private final WorkspacePath path;
  private final int depth;
  private final Inotify inotify;
  private final Map<Integer, List<FileName>> watched = new HashMap<>();
  private final Deque<TransferAnswer.Change> kept = new ArrayDeque<>();
  private long last;
  private boolean closed;

  private FileWatch(WorkspaceRoot root, WorkspacePath path, int depth, Inotify inotify) {
    this.root = root;
    this.path = path;
    this.depth = Math.clamp(depth, 0, MOST_DEPTH);
    this.inotify = inotify;
  }

  static FileWatch open(WorkspaceRoot root, WorkspacePath path, int depth) {
    Inotify inotify;
    try {
      inotify = Inotify.open();
    } catch (LinuxException e) {
      throw none();
    }
    var watch = new FileWatch(root, path, depth, inotify);
    try {
      root.openDirectory(path).close();
      if (!watch.add(path.names(), false)) {
        throw none();
      }
      return watch;
    } catch (LinuxException | Refusal e) {
      inotify.close();
      throw e;
    }
  }

  private static Refusal none() {
    return Refusal.conflict("the host has no watches left for so many directories");
  }

  @Override
  public SentPath path() {
    return path.sent();
  }

  @Override
  public TransferAnswer read(TransferStep.Read read) {
    throw Refusal.conflict("the transfer is a watch");
  }

  /** What happened after the change of this number, 0 for the beginning. */
  synchronized TransferAnswer after(long number) {
    if (closed) {
      throw Refusal.conflict("the transfer has ended");
    }
    for (List<Inotify.Event> events = inotify.read(); !events.isEmpty(); events = inotify.read()) {
      take(events);
    }
    List<TransferAnswer.Change> changes = new ArrayList<>();
    if (!kept.isEmpty() && kept.element().number() > number + 1) {
      long lost = kept.element().number() - 1;
      changes.add(change(lost, TransferAnswer.ChangeKind.OVERFLOW, List.of(), Optional.empty()));
    }
    kept.stream().filter(c -> c.number() > number).forEach(changes::add);
    return new TransferAnswer.Changes(changes);
  }

  private void take(List<Inotify.Event> events) {
    Map<Integer, List<FileName>> left = new HashMap<>();
    Map<Integer, Integer> arrivals = new HashMap<>();
    events.stream()
        .filter(e -> e.kind() == Inotify.Kind.MOVED_TO)
        .forEach(e -> arrivals.put(e.cookie(), e.watch()));
    for (Inotify.Event event : events) {
      List<FileName> in = watched.get(event.watch());
      if (event.kind() == Inotify.Kind.OVERFLOW) {
        note(TransferAnswer.ChangeKind.OVERFLOW, List.of(), Optional.empty());
      } else if (event.kind() == Inotify.Kind.ENDED) {
        watched.remove(event.watch());
      } else if (in != null && event.name().isPresent()) {
        List<FileName> names = new ArrayList<>(in);
        names.add(event.name().get());
        boolean ours = TemporaryFile.isDebris(event.name().get());
        if (event.kind() == Inotify.Kind.MOVED_FROM
            && !ours
            && arrivals.containsKey(event.cookie())) {
          left.put(event.cookie(), names);
        } else if (!ours) {
          happened(event, names, Optional.ofNullable(left.get(event.cookie())));
        }
      }
    }
  }

  private void happened(Inotify.Event event, List<FileName> names, Optional<List<FileName>> from) {
    switch (event.kind()) {
      case MODIFIED -> note(TransferAnswer.ChangeKind.MODIFIED, names, Optional.empty());
      case CREATED -> created(event.directory(), names);
      case DELETED, MOVED_FROM -> {
        note(TransferAnswer.ChangeKind.DELETED, names, Optional.empty());
        if (event.directory()) {
          forget(names);
        }
      }
      case MOVED_TO -> {
        if (from.isEmpty()) {
          created(event.directory(), names);
        } else {
          note(TransferAnswer.ChangeKind.MOVED, names, from);
          if (event.directory()) {
            forget(from.get());
            watchNew(names, false);
          }
        }
      }
      case ENDED, OVERFLOW -> {}
    }
  }

  private void created(boolean directory, List<FileName> names) {
    note(TransferAnswer.ChangeKind.CREATED, names, Optional.empty());
    if (directory) {
      watchNew(names, true);
    }
  }

  private void watchNew(List<FileName> names, boolean tell) {
    try {
      if (!add(names, tell)) {
        note(TransferAnswer.ChangeKind.OVERFLOW, names, Optional.empty());
      }
    } catch (LinuxException e) {
      // Gone again; that is told too.
      return;
    }
  }

  /** Watches a directory and those below it; false when there are too many. */
  private boolean add(List<FileName> first, boolean tell) {
    Deque<List<FileName>> pending = new ArrayDeque<>(List.of(first));
    while (!pending.isEmpty()) {
      List<FileName> names = pending.remove();
      if (names.size() - path.names().size() > depth) {
        continue;
      }
      if (watched.size() >= MOST_DIRECTORIES) {
        return false;
      }
      try (Directory directory = root.directory().openDirectory(names)) {
        watched.put(inotify.watch(directory), List.copyOf(names));
        collect(directory, names, pending, tell);
      } catch (LinuxException e) {
        if (e.is(Errno.ENOSPC)) {
          return false;
        }
        // Gone, or not readable: the watch goes on around it.
        if (names.equals(path.names())) {
          throw e;
        }
      }
    }
    return true;
  }

  private void collect(
      Directory directory, List<FileName> names, Deque<List<FileName>> pending, boolean tell) {
    try (DirectoryReader entries = directory.entries()) {
      for (var next = entries.next(); next.isPresent(); next = entries.next()) {
        DirectoryEntry entry = next.get();
        List<FileName> below = new ArrayList<>(names);
        below.add(entry.name());
        if (tell && !TemporaryFile.isDebris(entry.name())) {
          note(TransferAnswer.ChangeKind.CREATED, below, Optional.empty());
        }
        if (entry.kind() == FileKind.DIRECTORY) {
          pending.add(below);
        }
      }
    }
  }

  private void forget(List<FileName> names) {
    watched
        .entrySet()
        .removeIf(
            entry -> {
              List<FileName> each = entry.getValue();
              boolean below =
                  each.size() >= names.size() && each.subList(0, names.size()).equals(names);
              if (below) {
                inotify.forget(entry.getKey());
              }
              return below;
            });
  }

  private void note(
      TransferAnswer.ChangeKind kind, List<FileName> names, Optional<List<FileName>> from) {
    TransferAnswer.Change change = change(last + 1, kind, names, from);
    // Writing makes an event for every call; a row of them is one change.
    if (kind == TransferAnswer.ChangeKind.MODIFIED
        && !kept.isEmpty()
        && kept.getLast().kind() == kind
        && kept.getLast().path().equals(change.path())) {
      kept.removeLast();
    }
    last++;
    kept.add(change);
    if (kept.size() > MOST_KEPT) {
      kept.remove();
    }
  }

  private static TransferAnswer.Change change(
      long number,
      TransferAnswer.ChangeKind kind,
      List<FileName> names,
      Optional<List<FileName>> from) {
    return new TransferAnswer.Change(
        number, kind, ShownName.path(names), from.map(ShownName::path));
  }

  @Override
  public synchronized void close() {
    if (!closed) {
      closed = true;
      inotify.close();
    }
  }
}
