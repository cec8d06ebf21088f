package io.envapi.host;

import io.envapi.id.HostId;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.apache.pekko.actor.Address;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.AskPattern;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.receptionist.Receptionist;
import org.apache.pekko.actor.typed.receptionist.ServiceKey;
import org.apache.pekko.cluster.Member;
import org.apache.pekko.cluster.typed.Cluster;

/**
 * Follows which hosts can be reached, and asks them how much is on them. The name of a host's actor
 * is the host's id, so whoever finds the one knows the other.
 */
final class HostWatch {

  private static final ServiceKey<Host.Command> HOSTS =
      ServiceKey.create(Host.Command.class, "host");
  private static final ServiceKey<AuditReader.Read> AUDITS =
      ServiceKey.create(AuditReader.Read.class, "audit");

  private static final String AUDIT = "audit-";
  private static final Duration LOOK = Duration.ofSeconds(3);

  sealed interface Event {}

  private record Found(Receptionist.Listing listing) implements Event {}

  private record Look() implements Event {}

  private final ActorContext<Event> context;
  private final HostDirectory directory;
  private final Cluster cluster;

  private HostWatch(ActorContext<Event> context, HostDirectory directory) {
    this.context = context;
    this.directory = directory;
    this.cluster = Cluster.get(context.getSystem());
  }

  /** The name of the actor that is a host. */
  static String host(HostId id) {
    return id.value();
  }

  /** The name of the actor that reads the audit log of a host. */
  static String audit(HostId id) {
    return AUDIT + id.value();
  }

  /** Lets the others find this node's own, and follows where theirs are. */
  static Behavior<Event> create(
      HostDirectory directory, ActorRef<Host.Command> host, ActorRef<AuditReader.Read> audit) {
    return Behaviors.setup(
        context -> {
          var watch = new HostWatch(context, directory);
          ActorRef<Receptionist.Command> receptionist = context.getSystem().receptionist();
          receptionist.tell(Receptionist.register(HOSTS, host));
          receptionist.tell(Receptionist.register(AUDITS, audit));
          ActorRef<Receptionist.Listing> listings =
              context.messageAdapter(Receptionist.Listing.class, Found::new);
          receptionist.tell(Receptionist.subscribe(HOSTS, listings));
          receptionist.tell(Receptionist.subscribe(AUDITS, listings));
          return Behaviors.withTimers(
              timers -> {
                timers.startTimerWithFixedDelay(new Look(), Duration.ZERO, LOOK);
                return Behaviors.receiveMessage(watch::on);
              });
        });
  }

  private Behavior<Event> on(Event event) {
    switch (event) {
      case Found(var listing) when listing.isForKey(HOSTS) -> {
        directory.hosts(byId(listing.getServiceInstances(HOSTS)));
        look();
      }
      case Found(var listing) -> directory.audits(byId(listing.getServiceInstances(AUDITS)));
      case Look() -> look();
    }
    return Behaviors.same();
  }

  /** One that cannot answer gets nothing new until it can. */
  private void look() {
    for (ActorRef<Host.Command> host : directory.all().values()) {
      AskPattern.<Host.Command, Host.Description>ask(
              host, Host.Describe::new, LOOK, context.getSystem().scheduler())
          .thenAccept(directory::told);
    }
  }

  /**
   * Two of one id are a host that was killed and started again at another address before the others
   * have noticed: the one that joined last is it.
   */
  private <T> Map<HostId, ActorRef<T>> byId(Set<ActorRef<T>> found) {
    var hosts = new HashMap<HostId, ActorRef<T>>();
    for (ActorRef<T> each : found) {
      String name = each.path().name();
      var id = new HostId(name.startsWith(AUDIT) ? name.substring(AUDIT.length()) : name);
      hosts.merge(id, each, (one, other) -> joined(one) > joined(other) ? one : other);
    }
    return hosts;
  }

  private <T> int joined(ActorRef<T> actor) {
    Address address = actor.path().address();
    for (Member member : cluster.state().getMembers()) {
      if (member.address().equals(address)) {
        return member.upNumber();
      }
    }
    return address.hasLocalScope() ? Integer.MAX_VALUE : -1;
  }
}
