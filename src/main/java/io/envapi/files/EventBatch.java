package io.envapi.files;

import io.envapi.linux.FileName;
import io.envapi.linux.Inotify;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Predicate;

/**
 * Events in the order they happened. What the disk shows is what there is after the last of them,
 * so each has to be taken with those that follow it.
 */
final class EventBatch {

  /** A name in a watched directory. */
  record Place(int watch, FileName name) {}

  /** Both sides of a move between watched directories. */
  record Move(int left, int arrived, Place from, Place to) {}

  private final List<Inotify.Event> events;
  private final Map<Integer, Move> moves = new HashMap<>();
  private final Map<Place, NavigableSet<Integer>> named = new HashMap<>();
  private final Map<Integer, Integer> ends = new HashMap<>();

  EventBatch(List<Inotify.Event> events) {
    this.events = List.copyOf(events);
    Map<Integer, Integer> departures = new HashMap<>();
    for (int i = 0; i < events.size(); i++) {
      int at = i;
      Inotify.Event event = events.get(at);
      place(event).ifPresent(p -> named.computeIfAbsent(p, _ -> new TreeSet<>()).add(at));
      switch (event.kind()) {
        case MOVED_FROM -> departures.put(event.cookie(), at);
        case MOVED_TO ->
            Optional.ofNullable(departures.get(event.cookie())).ifPresent(left -> pair(left, at));
        case ENDED -> ends.put(event.watch(), at);
        case MODIFIED, CREATED, DELETED, MOVED_AWAY, OVERFLOW -> {}
      }
    }
  }

  private void pair(int left, int arrived) {
    Optional<Place> from = place(events.get(left));
    Optional<Place> to = place(events.get(arrived));
    if (from.isPresent() && to.isPresent()) {
      moves.put(events.get(arrived).cookie(), new Move(left, arrived, from.get(), to.get()));
    }
  }

  private static Optional<Place> place(Inotify.Event event) {
    return event.name().map(name -> new Place(event.watch(), name));
  }

  List<Inotify.Event> events() {
    return events;
  }

  /** The move that an event is one side of. */
  Optional<Move> move(Inotify.Event event) {
    return Optional.ofNullable(moves.get(event.cookie()));
  }

  /** Whether a later event says what became of a name, or what came to it. */
  boolean isNamedAfter(int at, Place place) {
    return Optional.ofNullable(named.get(place))
        .filter(all -> all.tailSet(at, false).stream().anyMatch(this::isOfName))
        .isPresent();
  }

  private boolean isOfName(int at) {
    return events.get(at).kind() != Inotify.Kind.MODIFIED;
  }

  /** Whether the last that happened to a name before an event is that something moved there. */
  boolean isJustArrived(int at, Place place) {
    return last(at, place).filter(kind -> kind == Inotify.Kind.MOVED_TO).isPresent();
  }

  /** Whether there was something of the name that the move brought something else to. */
  boolean isTaken(Move move) {
    return last(move.arrived(), move.to())
        .filter(kind -> kind == Inotify.Kind.CREATED || kind == Inotify.Kind.MOVED_TO)
        .isPresent();
  }

  private Optional<Inotify.Kind> last(int at, Place place) {
    return Optional.ofNullable(named.get(place))
        .map(all -> all.lower(at))
        .map(before -> events.get(before).kind());
  }

  /**
   * The other half of an exchange of two names: the next that happens to the one is that it moves
   * to where the first came from.
   */
  Optional<Inotify.Event> otherHalf(Move move) {
    return next(move)
        .map(events::get)
        .filter(event -> event.kind() == Inotify.Kind.MOVED_FROM)
        .filter(event -> move(event).filter(back -> back.to().equals(move.from())).isPresent());
  }

  /**
   * As {@link #otherHalf(Move)}; a directory that was replaced has ended by then instead.
   *
   * @param replaced the watch of that directory
   */
  Optional<Inotify.Event> otherHalf(Move move, int replaced) {
    boolean ended = next(move).flatMap(at -> end(replaced).filter(end -> end < at)).isPresent();
    return otherHalf(move).filter(_ -> !ended);
  }

  private Optional<Integer> next(Move move) {
    return Optional.ofNullable(named.get(move.to())).map(all -> all.higher(move.arrived()));
  }

  private Optional<Integer> end(int watch) {
    return Optional.ofNullable(ends.get(watch));
  }

  /** Those before the first of a kind, when there is one. */
  Optional<EventBatch> before(Predicate<Inotify.Event> kind) {
    return events.stream()
        .filter(kind)
        .findFirst()
        .map(first -> new EventBatch(events.subList(0, events.indexOf(first))));
  }
}
