package io.envapi.files;

import io.envapi.linux.FileName;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/**
 * The latest changes of a watch, numbered from 1 on, for whoever lost the connection. Numbers may
 * be left out: what follows a number is all that happened since, unless it says that some is lost.
 */
final class ChangeLog {

  private static final int MOST_KEPT = 4096;

  private final Deque<TransferAnswer.Change> kept = new ArrayDeque<>();
  private long last;

  /** The latest that had to make room. */
  private long dropped;

  /** What happened after the change of this number, 0 for the beginning. */
  List<TransferAnswer.Change> after(long number) {
    if (number > last) {
      return List.of(lost(last));
    }
    List<TransferAnswer.Change> changes = new ArrayList<>();
    if (number < dropped) {
      changes.add(lost(dropped));
    }
    kept.stream().filter(change -> change.number() > number).forEach(changes::add);
    return changes;
  }

  void add(TransferAnswer.ChangeKind kind, List<FileName> names) {
    add(kind, names, Optional.empty());
  }

  void moved(List<FileName> from, List<FileName> to) {
    add(TransferAnswer.ChangeKind.MOVED, to, Optional.of(from));
  }

  private void add(
      TransferAnswer.ChangeKind kind, List<FileName> names, Optional<List<FileName>> from) {
    last++;
    var change =
        new TransferAnswer.Change(last, kind, ShownName.path(names), from.map(ShownName::path));
    // Writing makes an event for every call; a row of them is one change.
    if (kind == TransferAnswer.ChangeKind.MODIFIED && isLast(kind, change.path())) {
      kept.removeLast();
    }
    kept.add(change);
    if (kept.size() > MOST_KEPT) {
      dropped = kept.remove().number();
    }
  }

  private boolean isLast(TransferAnswer.ChangeKind kind, String path) {
    return !kept.isEmpty() && kept.getLast().kind() == kind && kept.getLast().path().equals(path);
  }

  private static TransferAnswer.Change lost(long number) {
    return new TransferAnswer.Change(
        number, TransferAnswer.ChangeKind.OVERFLOW, ".", Optional.empty());
  }
}
