package io.envapi.files;

import io.envapi.linux.FileName;
import io.envapi.linux.Inotify;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Takes the events of a batch into what is watched, and tells what they mean. */
final class WatchedEvents {

  /** A name in a directory that is watched now. */
  private record Spot(WatchedDirectory in, FileName name) {

    Optional<WatchedDirectory> directory() {
      return in.find(name);
    }
  }

  private final WatchedTree tree;
  private final ChangeLog log;
  private final EventBatch batch;

  /** The moves that were made already, as the other halves of exchanges. */
  private final Set<Integer> made = new HashSet<>();

  private boolean missed;

  WatchedEvents(WatchedTree tree, ChangeLog log, EventBatch batch) {
    this.tree = tree;
    this.log = log;
    this.batch = batch;
  }

  /** Whether something was missed, so that the tree is not to be trusted. */
  boolean take() {
    List<Inotify.Event> events = batch.events();
    for (int at = 0; at < events.size(); at++) {
      take(at, events.get(at));
    }
    if (!tree.exploreSkipped(new Later(events.size()))) {
      log.add(TransferAnswer.ChangeKind.OVERFLOW, List.of());
    }
    return missed;
  }

  private void take(int at, Inotify.Event event) {
    switch (event.kind()) {
      case OVERFLOW -> {
        log.add(TransferAnswer.ChangeKind.OVERFLOW, List.of());
        missed = true;
      }
      case ENDED -> tree.find(event.watch()).ifPresent(tree::drop);
      case MOVED_AWAY -> {}
      case MODIFIED, CREATED, DELETED, MOVED_FROM, MOVED_TO ->
          event
              .name()
              .filter(name -> !TemporaryFile.isDebris(name))
              .flatMap(name -> spot(new EventBatch.Place(event.watch(), name)))
              .ifPresent(spot -> happened(at, event, spot));
    }
  }

  private Optional<Spot> spot(EventBatch.Place place) {
    return tree.find(place.watch()).map(in -> new Spot(in, place.name()));
  }

  private void happened(int at, Inotify.Event event, Spot spot) {
    switch (event.kind()) {
      case MODIFIED -> log.add(TransferAnswer.ChangeKind.MODIFIED, names(spot));
      case CREATED -> created(at, event, spot);
      case DELETED -> deleted(event, spot);
      case MOVED_FROM -> left(at, event, spot);
      case MOVED_TO -> arrived(at, event, spot);
      case MOVED_AWAY, ENDED, OVERFLOW -> {}
    }
  }

  private static EventBatch.Place place(Spot spot) {
    return new EventBatch.Place(spot.in().watch(), spot.name());
  }

  private List<FileName> names(Spot spot) {
    return tree.names(spot.in(), spot.name());
  }

  /** The move of an event when both of its sides are for callers to see. */
  private Optional<EventBatch.Move> move(Inotify.Event event) {
    return batch.move(event).filter(move -> isSeen(move.from()) && isSeen(move.to()));
  }

  private boolean isSeen(EventBatch.Place place) {
    return !TemporaryFile.isDebris(place.name()) && spot(place).isPresent();
  }

  private void deleted(Inotify.Event event, Spot spot) {
    log.add(TransferAnswer.ChangeKind.DELETED, names(spot));
    if (event.directory()) {
      spot.directory().ifPresent(tree::drop);
    }
  }

  /** Out of what is watched; of a move within it, its arrival tells. */
  private void left(int at, Inotify.Event event, Spot spot) {
    if (move(event).isPresent() || made.contains(event.cookie())) {
      return;
    }
    if (batch.isJustArrived(at, place(spot)) && tree.exists(spot.in(), spot.name())) {
      // Exchanged with something outside: what arrived is there, what was there left.
      explore(at, spot);
    } else {
      deleted(event, spot);
    }
  }

  private void created(int at, Inotify.Event event, Spot spot) {
    log.add(TransferAnswer.ChangeKind.CREATED, names(spot));
    if (event.directory()) {
      explore(at, spot);
    }
  }

  private void arrived(int at, Inotify.Event event, Spot spot) {
    Optional<EventBatch.Move> move = move(event);
    if (move.isPresent()) {
      moved(at, move.get(), spot(move.get().from()).orElseThrow(), spot);
      return;
    }
    batch.move(event).flatMap(batch::otherHalf).ifPresent(other -> made.add(other.cookie()));
    replaced(spot);
    created(at, event, spot);
  }

  /** What had the name is gone, unless that is what came there: the disk can be ahead. */
  private void replaced(Spot spot) {
    spot.directory().filter(old -> !tree.isThere(old)).ifPresent(tree::drop);
  }

  private void moved(int at, EventBatch.Move move, Spot from, Spot to) {
    log.moved(names(from), names(to));
    Inotify.Event event = batch.events().get(at);
    if (made.contains(event.cookie())) {
      explore(at, from);
      explore(at, to);
    } else {
      make(move, event.directory(), from, to);
      if (event.directory()) {
        explore(at, to);
      }
    }
  }

  private void make(EventBatch.Move move, boolean directory, Spot from, Spot to) {
    Optional<WatchedDirectory> moving = from.directory().filter(_ -> directory);
    Optional<WatchedDirectory> old = to.directory();
    Optional<Inotify.Event> other = otherHalf(move, old);
    moving.ifPresent(WatchedDirectory::takeOut);
    if (other.isPresent()) {
      made.add(other.get().cookie());
      old.ifPresent(it -> tree.move(it, from.in(), from.name()));
    } else if (moving.isPresent()) {
      old.ifPresent(tree::drop);
    } else {
      replaced(to);
    }
    moving.ifPresent(it -> tree.move(it, to.in(), to.name()));
  }

  /** Without anything to exchange it with, a directory that moves back is just that. */
  private Optional<Inotify.Event> otherHalf(
      EventBatch.Move move, Optional<WatchedDirectory> replaced) {
    if (replaced.isPresent()) {
      return batch.otherHalf(move, replaced.get().watch());
    }
    return batch.isTaken(move) ? batch.otherHalf(move) : Optional.empty();
  }

  /** Watches what is at a name now, unless a later event comes to that. */
  private void explore(int at, Spot spot) {
    if (!tree.explore(spot.in(), spot.name(), new Later(at))) {
      log.add(TransferAnswer.ChangeKind.OVERFLOW, names(spot));
    }
  }

  /** What is found on the disk, which is ahead of an event. */
  private final class Later implements WatchedTree.Finder {
    private final int at;

    Later(int at) {
      this.at = at;
    }

    @Override
    public boolean isWanted(WatchedDirectory in, FileName name) {
      return !batch.isNamedAfter(at, new EventBatch.Place(in.watch(), name));
    }

    @Override
    public void found(List<FileName> names) {
      log.add(TransferAnswer.ChangeKind.CREATED, names);
    }
  }
}
