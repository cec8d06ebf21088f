package io.envapi.environment;

import io.envapi.id.ShellId;
import io.envapi.shell.CommandRecord;
import io.envapi.shell.ShellEvent;
import java.time.Duration;
import java.util.IdentityHashMap;
import java.util.List;
import org.apache.pekko.actor.Cancellable;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.persistence.typed.javadsl.RetentionCriteria;

/**
 * The events of an environment as others follow them: collects what its shells tell of their
 * commands until that is stored together, and knows who waits for what is stored next.
 *
 * <p>Nobody who runs a command waits for this. What was collected and not stored when the service
 * was killed is told again by the shells, each of which has stored it.
 */
final class EnvironmentFeed {

  /** Of the events at least the newest 10,000 stay in the journal for those who read them late. */
  static final RetentionCriteria RETENTION =
      RetentionCriteria.snapshotEvery(500, 20).withDeleteEventsOnSnapshot();

  /** How long the events of a deleted environment stay for those who follow it. */
  static final Duration LINGERING = Duration.ofSeconds(20);

  /** Who follows it asks again within this time, if it reads what it is sent. */
  private static final Duration FOLLOWING = Duration.ofSeconds(60);

  private static final Duration COLLECTING = Duration.ofMillis(50);

  private final ActorContext<Environment.Command> context;
  private final CommandNotices notices = new CommandNotices();

  private boolean collecting;
  private long lastAsked;

  /** By identity, since two readers may ask the same. */
  private final IdentityHashMap<Environment.AwaitEvents, Cancellable> waiting =
      new IdentityHashMap<>();

  EnvironmentFeed(ActorContext<Environment.Command> context) {
    this.context = context;
  }

  /** False when something before it was not heard, so that all is to be asked again. */
  boolean add(EnvironmentState state, ShellEvent event) {
    boolean heard =
        !(state instanceof EnvironmentState.Present present) || notices.add(present, event);
    collect();
    return heard;
  }

  void add(EnvironmentState state, ShellId shell, List<CommandRecord> commands) {
    if (state instanceof EnvironmentState.Present present) {
      notices.add(present, shell, commands);
      collect();
    }
  }

  private void collect() {
    if (!collecting && !notices.isEmpty()) {
      collecting = true;
      context.scheduleOnce(COLLECTING, context.getSelf(), new EnvironmentActor.Collected());
    }
  }

  /** What is to be stored now; nothing where the environment is deleted. */
  List<EnvironmentEvent> take(EnvironmentState state) {
    collecting = false;
    List<EnvironmentEvent> taken = notices.take();
    return state instanceof EnvironmentState.Present ? taken : List.of();
  }

  /** {@code event}, and before it what was collected. */
  List<EnvironmentEvent> takeBefore(EnvironmentEvent event) {
    List<EnvironmentEvent> taken = notices.take();
    taken.add(event);
    return taken;
  }

  /** Answers at once where there are events already. */
  void await(Environment.AwaitEvents request, long last) {
    lastAsked = System.currentTimeMillis();
    if (last > request.after() || request.waitMs() == 0) {
      request.replyTo().tell(new Environment.EventsUpTo(last));
    } else {
      waiting.put(
          request,
          context.scheduleOnce(
              Duration.ofMillis(request.waitMs()),
              context.getSelf(),
              new EnvironmentActor.EventsWaitOver(request)));
    }
  }

  boolean isFollowed() {
    return System.currentTimeMillis() - lastAsked < FOLLOWING.toMillis();
  }

  void waitOver(Environment.AwaitEvents request, long last) {
    if (waiting.remove(request) != null) {
      request.replyTo().tell(new Environment.EventsUpTo(last));
    }
  }

  /** Events up to the number {@code last} are stored. */
  void stored(long last) {
    waiting.forEach(
        (request, timer) -> {
          timer.cancel();
          request.replyTo().tell(new Environment.EventsUpTo(last));
        });
    waiting.clear();
  }
}
