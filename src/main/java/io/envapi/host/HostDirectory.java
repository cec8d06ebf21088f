package io.envapi.host;

import io.envapi.environment.Environment;
import io.envapi.failure.Failure;
import io.envapi.id.HostId;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.Behaviors;

/** The hosts that answer now, by id. Each node knows its own alone: a cluster of one. */
public final class HostDirectory {

  /** A request that cannot be delivered, to be refused in its own words. */
  record Refuse(Environment.Request request, Failure failure) {}

  private final Map<HostId, ActorRef<Host.Command>> hosts = new ConcurrentHashMap<>();
  private final ActorRef<Refuse> refuser;

  public HostDirectory(ActorRef<Refuse> refuser) {
    this.refuser = refuser;
  }

  /** Refuses what it is sent. */
  public static Behavior<Refuse> refusing() {
    return Behaviors.receiveMessage(
        refuse -> {
          refuse.request().refuse(refuse.failure());
          return Behaviors.same();
        });
  }

  void put(HostId id, ActorRef<Host.Command> host) {
    hosts.put(id, host);
  }

  Optional<ActorRef<Host.Command>> find(HostId id) {
    return Optional.ofNullable(hosts.get(id));
  }

  List<ActorRef<Host.Command>> all() {
    return List.copyOf(hosts.values());
  }

  /** Some host that takes new environments; empty when none answers. */
  Optional<HostId> any() {
    return hosts.keySet().stream().findFirst();
  }

  ActorRef<Refuse> refuser() {
    return refuser;
  }
}
