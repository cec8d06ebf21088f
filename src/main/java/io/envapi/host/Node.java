package io.envapi.host;

import io.envapi.account.Account;
import io.envapi.account.EnvironmentSpec;
import io.envapi.account.Quotas;
import io.envapi.audit.AuditLog;
import io.envapi.environment.EnvironmentRuntime;
import io.envapi.environment.FileThreads;
import io.envapi.environment.JournalRows;
import io.envapi.files.FileSettings;
import io.envapi.id.AccountId;
import io.envapi.id.EnvironmentId;
import io.envapi.id.HostId;
import io.envapi.sandbox.Sandbox;
import io.envapi.sandbox.SandboxSettings;
import io.envapi.shell.ShellProcesses;
import io.envapi.shell.ShellRuntime;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.actor.Address;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.cluster.sharding.typed.javadsl.ClusterSharding;
import org.apache.pekko.cluster.typed.Cluster;
import org.apache.pekko.cluster.typed.SelfUp;
import org.apache.pekko.cluster.typed.Subscribe;

/** This node of the cluster: its host, and how it reaches the accounts and the other hosts. */
public final class Node {

  /** What a node is made of. */
  public record Parts(
      HostId host,
      Sandbox sandbox,
      ShellProcesses processes,
      ShellRuntime shells,
      SandboxSettings sandboxSettings,
      FileSettings files,
      FileThreads fileThreads,
      AuditLog audit,
      JournalRows rows,
      Quotas quotas,
      HostSettings settings) {}

  /**
   * What to join.
   *
   * @param seeds nodes of the cluster; empty for a cluster of this node alone
   * @param others the nodes that work on the same journal now; blocks
   */
  public record Joining(List<Address> seeds, Callable<List<Address>> others) {
    public Joining {
      seeds = List.copyOf(seeds);
    }
  }

  /** What the routes ask. */
  public record Running(
      Environments environments, Hosts hosts, Accounts accounts, IdempotencyKeys keys) {}

  private Node() {}

  /**
   * Joins the cluster, starts the host and completes {@code started} when requests can be answered.
   */
  public static Behavior<SelfUp> create(
      Parts parts, Joining joining, CompletableFuture<Running> started) {
    return Behaviors.setup(
        context -> {
          Cluster cluster = Cluster.get(context.getSystem());
          cluster.subscriptions().tell(Subscribe.create(context.getSelf(), SelfUp.class));
          context.spawn(ClusterJoin.create(joining, parts.shells().blocking()), "join");
          return Behaviors.receive(SelfUp.class)
              .onMessage(
                  SelfUp.class,
                  up -> {
                    started.complete(start(context, parts));
                    return Behaviors.same();
                  })
              .build();
        });
  }

  private static Running start(ActorContext<SelfUp> context, Parts parts) {
    var place = new CompletableFuture<HostDirectory>();
    var accounts =
        new Accounts(
            ClusterSharding.get(context.getSystem()),
            parts.quotas(),
            new Placer(place),
            parts.settings());
    var runtime =
        new EnvironmentRuntime(
            parts.sandbox(),
            parts.processes(),
            parts.shells(),
            parts.files(),
            parts.fileThreads(),
            parts.audit(),
            accounts::changed,
            parts.rows(),
            account -> effective(accounts, account));
    var host =
        context.spawn(
            HostActor.create(parts.host(), runtime, parts.sandboxSettings()),
            HostWatch.host(parts.host()));
    var audit =
        context.spawn(
            AuditReader.create(parts.audit(), parts.shells().blocking()),
            HostWatch.audit(parts.host()));
    var directory =
        new HostDirectory(
            parts.host(), host, audit, context.spawn(HostDirectory.refusing(), "refuser"));
    place.complete(directory);
    context.spawn(HostWatch.create(directory, host, audit), "hosts");
    new Strays(context.getSystem(), accounts, host).remove();
    var environments = new Environments(context.getSystem(), accounts, directory, parts.settings());
    var hosts = new Hosts(context.getSystem(), directory, environments, parts.settings());
    var keys = new IdempotencyKeys(context.getSystem(), parts.settings(), InstantSource.system());
    return new Running(environments, hosts, accounts, keys);
  }

  private static CompletionStage<Quotas> effective(Accounts accounts, AccountId account) {
    return accounts.quotas(account).thenApply(Account.QuotasReply::effective);
  }

  /** An account may be asked before this node's own host is made: then there is no host yet. */
  private record Placer(CompletableFuture<HostDirectory> hosts) implements Account.Placer {

    @Override
    public Optional<HostId> choose() {
      return directory().map(HostDirectory::choose);
    }

    @Override
    public void place(
        HostId host,
        AccountId account,
        EnvironmentId id,
        EnvironmentSpec spec,
        ActorRef<Account.Placement> replyTo) {
      find(host).ifPresent(ref -> ref.tell(new Host.Place(account, id, spec, replyTo)));
    }

    @Override
    public void settle(HostId host, EnvironmentId id, ActorRef<Account.Placement> replyTo) {
      find(host).ifPresent(ref -> ref.tell(new Host.Settle(id, replyTo)));
    }

    private Optional<ActorRef<Host.Command>> find(HostId host) {
      return directory().flatMap(known -> known.find(host));
    }

    private Optional<HostDirectory> directory() {
      return hosts.isDone() ? Optional.of(hosts.join()) : Optional.empty();
    }
  }
}
