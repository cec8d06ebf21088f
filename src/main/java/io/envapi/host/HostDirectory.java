package io.envapi.host;

import io.envapi.environment.Environment;
import io.envapi.failure.Failure;
import io.envapi.failure.Unavailable;
import io.envapi.id.HostId;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.jspecify.annotations.Nullable;

/**
 * The hosts of the cluster, by id, as this node sees them: those that can be reached now, and those
 * that could be since it started. {@link HostWatch} keeps it true.
 */
public final class HostDirectory {

  /** A request that cannot be delivered, to be refused in its own words. */
  record Refuse(Environment.Request request, Failure failure) {}

  /** What a host that is away is answered for. */
  static final Failure AWAY = new Failure.HostUnavailable(5);

  /** A host that says nothing of its load for so long gets no new environment. */
  private static final long FRESH_NANOS = 15_000_000_000L;

  private record Load(long used, long at) {}

  private static final class Present {
    private final ActorRef<Host.Command> host;

    /** What ends an ask when the host is lost, for each that is not answered yet. */
    private final Map<Object, Runnable> asked = new ConcurrentHashMap<>();

    private Present(ActorRef<Host.Command> host) {
      this.host = host;
    }
  }

  private final HostId own;
  private final ActorRef<Refuse> refuser;
  private final Map<HostId, Present> present = new ConcurrentHashMap<>();
  private final Map<HostId, Load> loads = new ConcurrentHashMap<>();
  private final Map<HostId, Long> placed = new ConcurrentHashMap<>();
  private final Set<HostId> seen = ConcurrentHashMap.newKeySet();
  private volatile Map<HostId, ActorRef<AuditReader.Read>> audits;

  /** A directory of this node alone, whose own parts need no finding. */
  HostDirectory(
      HostId own,
      ActorRef<Host.Command> host,
      ActorRef<AuditReader.Read> audit,
      ActorRef<Refuse> refuser) {
    this.own = own;
    this.refuser = refuser;
    this.audits = Map.of(own, audit);
    present.put(own, new Present(host));
    seen.add(own);
  }

  /** Refuses what it is sent. */
  static Behavior<Refuse> refusing() {
    return Behaviors.receiveMessage(
        refuse -> {
          refuse.request().refuse(refuse.failure());
          return Behaviors.same();
        });
  }

  /** These are the hosts that can be reached now; what others were asked fails. */
  void hosts(Map<HostId, ActorRef<Host.Command>> reachable) {
    for (var each : reachable.entrySet()) {
      Present known = present.get(each.getKey());
      if (known == null || (!known.host.equals(each.getValue()) && !each.getKey().equals(own))) {
        seen.add(each.getKey());
        lost(present.put(each.getKey(), new Present(each.getValue())));
      }
    }
    var gone = new HashSet<>(present.keySet());
    gone.removeAll(reachable.keySet());
    gone.remove(own);
    for (HostId each : gone) {
      loads.remove(each);
      lost(present.remove(each));
    }
  }

  private static void lost(@Nullable Present host) {
    if (host != null) {
      host.asked.values().forEach(Runnable::run);
    }
  }

  private static void fail(CompletableFuture<?> answer) {
    answer.completeExceptionally(new Unavailable(AWAY));
  }

  /** These hosts' audit logs can be read now. */
  void audits(Map<HostId, ActorRef<AuditReader.Read>> reachable) {
    var all = new ConcurrentHashMap<>(reachable);
    all.put(own, audits.get(own));
    audits = Map.copyOf(all);
  }

  /** A host told what is on it. */
  void told(Host.Description host) {
    placed.remove(host.id());
    loads.put(host.id(), new Load(host.environments() + host.shells(), System.nanoTime()));
  }

  HostId own() {
    return own;
  }

  Map<HostId, ActorRef<Host.Command>> all() {
    return present.entrySet().stream()
        .collect(Collectors.toMap(Map.Entry::getKey, each -> each.getValue().host));
  }

  Map<HostId, ActorRef<AuditReader.Read>> audits() {
    return audits;
  }

  Optional<ActorRef<Host.Command>> find(HostId id) {
    return Optional.ofNullable(present.get(id)).map(known -> known.host);
  }

  /** Hosts that were there since this node started and are not now, in the order of their ids. */
  List<HostId> away() {
    var away = new TreeSet<HostId>(Comparator.comparing(HostId::value));
    away.addAll(seen);
    away.removeAll(present.keySet());
    return List.copyOf(away);
  }

  /**
   * Asks a host, and no longer than it can be reached: then the stage fails with {@link
   * Unavailable}. Empty where it is away already.
   */
  <R> Optional<CompletionStage<R>> ask(
      HostId id, Function<ActorRef<Host.Command>, CompletionStage<R>> ask) {
    Present known = present.get(id);
    if (known == null) {
      return Optional.empty();
    }
    if (id.equals(own)) {
      return Optional.of(ask.apply(known.host));
    }
    CompletableFuture<R> answer = ask.apply(known.host).toCompletableFuture().copy();
    var key = new Object();
    known.asked.put(key, () -> fail(answer));
    answer.whenComplete((_, _) -> known.asked.remove(key));
    if (present.get(id) != known) {
      fail(answer);
    }
    return Optional.of(answer);
  }

  /**
   * The host for a new environment: of those that told of themselves a short while ago the one with
   * the fewest environments and shells. This one where none did.
   */
  HostId choose() {
    long now = System.nanoTime();
    HostId chosen =
        loads.entrySet().stream()
            .filter(each -> now - each.getValue().at() < FRESH_NANOS)
            .filter(each -> present.containsKey(each.getKey()))
            .min(
                Comparator.comparingLong(
                    each -> each.getValue().used() + placed.getOrDefault(each.getKey(), 0L)))
            .map(Map.Entry::getKey)
            .orElse(own);
    placed.merge(chosen, 1L, Long::sum);
    return chosen;
  }

  ActorRef<Refuse> refuser() {
    return refuser;
  }
}
