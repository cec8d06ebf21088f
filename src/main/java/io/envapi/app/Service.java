package io.envapi.app;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.envapi.audit.AuditLog;
import io.envapi.environment.FileThreads;
import io.envapi.host.HostSettings;
import io.envapi.host.Node;
import io.envapi.idempotency.KeyState;
import io.envapi.linux.Poller;
import io.envapi.metrics.Metrics;
import io.envapi.sandbox.Sandbox;
import io.envapi.shell.ShellProcesses;
import io.envapi.shell.ShellRuntime;
import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.pekko.actor.Address;
import org.apache.pekko.actor.BootstrapSetup;
import org.apache.pekko.actor.CoordinatedShutdown;
import org.apache.pekko.actor.setup.ActorSystemSetup;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.cluster.typed.Cluster;
import org.apache.pekko.cluster.typed.SelfUp;
import org.apache.pekko.stream.Materializer;
import scala.concurrent.ExecutionContext;

/** Everything below the HTTP interface, wired on a data root. */
final class Service {

  /** Part of every address in a cluster. */
  private static final String NAME = "envapi";

  /** Another host works on the journal, and this one is not to join it. */
  static final class JournalInUse extends IOException {
    private static final long serialVersionUID = 1L;
  }

  private static final Duration KEY_SWEEP = Duration.ofHours(1);

  private final ActorSystem<Void> system;
  private final CompletableFuture<Node.Running> running;
  private final CompletableFuture<ShellProcesses> shells;
  private final Threads threads;
  private final Journal journal;
  private final JournalHosts hosts;
  private final Metrics metrics;

  private Service(
      ActorSystem<Void> system,
      CompletableFuture<Node.Running> running,
      CompletableFuture<ShellProcesses> shells,
      Threads threads,
      Journal journal,
      JournalHosts hosts,
      Metrics metrics) {
    this.system = system;
    this.running = running;
    this.shells = shells;
    this.threads = threads;
    this.journal = journal;
    this.hosts = hosts;
    this.metrics = metrics;
  }

  /** Starts the actors. {@code root} must be held. */
  static Service start(Settings settings, DataRoot root, Sandbox sandbox, AuditLog audit)
      throws IOException {
    var metrics = new Metrics();
    Journal journal = Journal.of(settings.envapi(), root.directory("journal"));
    journal.migrate();
    var hosts = new JournalHosts(journal, root.hostId());
    if (!settings.cluster().isShared()) {
      claim(hosts);
    }
    Threads threads = Threads.start();
    var rows = new SqlRows(journal, threads.rows());
    CompletableFuture<Node.Running> running = new CompletableFuture<>();
    CompletableFuture<ShellProcesses> shells = new CompletableFuture<>();
    Behavior<Void> guardian =
        Behaviors.setup(
            context -> {
              var runtime =
                  new ShellRuntime(
                      Poller.start(),
                      Materializer.createMaterializer(context),
                      threads.blocking(),
                      Executors.newVirtualThreadPerTaskExecutor(),
                      settings.shell(),
                      new MeteredShells(metrics));
              var processes = new ShellProcesses(sandbox, runtime);
              shells.complete(processes);
              metrics.gauge("envapi.shells", "Live shells", processes::count);
              metrics.gauge(
                  "envapi.environments.live",
                  "Environments with a live shell",
                  processes::environments);
              Behavior<SelfUp> node =
                  Node.create(
                      new Node.Parts(
                          root.hostId(),
                          sandbox,
                          processes,
                          runtime,
                          settings.sandbox(),
                          settings.files(),
                          new FileThreads(threads.files()),
                          audit,
                          rows,
                          settings.quotas(),
                          new HostSettings(
                              settings.http().askTimeout(), settings.http().requestTimeout())),
                      new Node.Joining(settings.cluster().addresses(NAME), hosts::others),
                      running);
              context.spawn(node, "node");
              return Behaviors.empty();
            });
    ActorSystem<Void> system =
        ActorSystem.create(
            guardian,
            NAME,
            ActorSystemSetup.create(
                BootstrapSetup.create(config(settings, journal)),
                new MeteredJournal.Meter(metrics)));
    system
        .scheduler()
        .scheduleWithFixedDelay(
            KEY_SWEEP,
            KEY_SWEEP,
            () -> rows.forgetKeys(System.currentTimeMillis() - KeyState.KEPT.toMillis()),
            ExecutionContext.fromExecutor(threads.rows()));
    running.thenAccept(_ -> beat(system, hosts, threads.beat()));
    return new Service(system, running, shells, threads, journal, hosts, metrics);
  }

  private static void claim(JournalHosts hosts) throws IOException {
    try {
      if (!hosts.claim()) {
        throw new JournalInUse();
      }
    } catch (SQLException e) {
      throw new IOException("the journal's database does not answer", e);
    }
  }

  private static void beat(ActorSystem<?> system, JournalHosts hosts, ExecutorService thread) {
    Address own = Cluster.get(system).selfMember().address();
    system
        .scheduler()
        .scheduleWithFixedDelay(
            Duration.ZERO,
            JournalHosts.BEAT,
            () -> hosts.beat(own),
            ExecutionContext.fromExecutor(thread));
  }

  private static Config config(Settings settings, Journal journal) {
    return journal
        .config()
        .withFallback(Shutdown.config(settings.shutdownGrace()))
        .withFallback(settings.cluster().config(settings.http(), settings.files()))
        .withFallback(ConfigFactory.parseResources("pekko.conf"))
        .withFallback(settings.config())
        .resolve();
  }

  ActorSystem<Void> system() {
    return system;
  }

  /** Completes when requests can be answered. */
  CompletionStage<Node.Running> running() {
    return running;
  }

  /** Ends all shells and starts no more; completes when the journal has their ends. */
  CompletionStage<Void> endShells(Duration grace) {
    return shells.thenCompose(processes -> processes.endAll(grace));
  }

  /**
   * Waits until all actors have ended, then closes the journal they wrote to.
   *
   * @return whether the end was ordered; false where the rest of the cluster goes on without it
   */
  boolean awaitEnd() throws SQLException {
    system.getWhenTerminated().toCompletableFuture().join();
    hosts.gone();
    journal.close();
    metrics.close();
    return CoordinatedShutdown.get(system)
        .getShutdownReason()
        .filter(CoordinatedShutdown.clusterDowningReason()::equals)
        .isEmpty();
  }

  Metrics metrics() {
    return metrics;
  }

  /** For work of the routes that blocks shortly. */
  ExecutorService blocking() {
    return threads.blocking();
  }
}
