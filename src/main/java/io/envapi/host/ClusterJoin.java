package io.envapi.host;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.stream.Stream;
import org.apache.pekko.actor.Address;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.TimerScheduler;
import org.apache.pekko.cluster.MemberStatus;
import org.apache.pekko.cluster.typed.Cluster;
import org.apache.pekko.cluster.typed.Join;
import org.apache.pekko.cluster.typed.JoinSeedNodes;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Joins a cluster. The first of the seeds makes one where there is none: not where it alone does
 * not see the others, which the database of the journal tells apart.
 */
final class ClusterJoin {

  private static final Logger LOG = LoggerFactory.getLogger(ClusterJoin.class);

  private static final Duration AGAIN = Duration.ofSeconds(5);

  /** Longer than the first seed waits for an answer of the others before it makes a cluster. */
  private static final Duration MAKING = Duration.ofSeconds(15);

  sealed interface Event {}

  private record Look() implements Event {}

  private record Seen(List<Address> others) implements Event {}

  private record Unknown() implements Event {}

  private ClusterJoin() {}

  static Behavior<Event> create(Node.Joining to, Executor blocking) {
    return Behaviors.setup(
        context ->
            Behaviors.withTimers(
                timers -> {
                  Cluster cluster = Cluster.get(context.getSystem());
                  if (to.seeds().isEmpty()) {
                    cluster.manager().tell(Join.create(cluster.selfMember().address()));
                    return Behaviors.stopped();
                  }
                  look(context, to, blocking);
                  return Behaviors.receiveMessage(
                      event -> on(event, context, timers, cluster, to, blocking));
                }));
  }

  private static Behavior<Event> on(
      Event event,
      ActorContext<Event> context,
      TimerScheduler<Event> timers,
      Cluster cluster,
      Node.Joining to,
      Executor blocking) {
    boolean joined = !cluster.selfMember().status().equals(MemberStatus.removed());
    if (joined) {
      return Behaviors.stopped();
    }
    switch (event) {
      case Look() -> look(context, to, blocking);
      case Unknown() -> timers.startSingleTimer(new Look(), AGAIN);
      case Seen(var others) when others.isEmpty() -> {
        cluster.manager().tell(new JoinSeedNodes(to.seeds()));
        timers.startSingleTimer(new Look(), MAKING);
      }
      case Seen(var others) -> {
        LOG.info("joining {}", others);
        Address own = cluster.selfMember().address();
        cluster
            .manager()
            .tell(
                new JoinSeedNodes(
                    Stream.concat(others.stream(), to.seeds().stream())
                        .filter(each -> !each.equals(own))
                        .distinct()
                        .toList()));
        timers.startSingleTimer(new Look(), AGAIN);
      }
    }
    return Behaviors.same();
  }

  private static void look(ActorContext<Event> context, Node.Joining to, Executor blocking) {
    context.pipeToSelf(
        CompletableFuture.supplyAsync(() -> call(to.others()), blocking),
        (others, failure) -> {
          if (failure == null) {
            return new Seen(others);
          }
          LOG.warn("it is unknown which hosts there are: {}", failure.toString());
          return new Unknown();
        });
  }

  private static List<Address> call(Callable<List<Address>> others) {
    try {
      return others.call();
    } catch (Exception e) {
      throw new CompletionException(e);
    }
  }
}
