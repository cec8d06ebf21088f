package io.envapi.app;

import com.typesafe.config.Config;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.pekko.actor.ExtendedActorSystem;
import org.apache.pekko.coordination.lease.LeaseSettings;
import org.apache.pekko.coordination.lease.javadsl.Lease;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What hosts that no longer see each other compete for: those that get it go on, the others end.
 * Kept in the database of the journal, the one place that all of them have in common and without
 * which none can do anything. Made by its class name.
 *
 * <p>Held for a while and never renewed: it is for one decision.
 */
public final class JournalLease extends Lease {

  private static final Logger LOG = LoggerFactory.getLogger(JournalLease.class);

  /** Longer than Pekko keeps it ({@code release-after}). */
  private static final int SECONDS = 30;

  /** A database that is away stops everything; that is no reason to end as well. */
  private static final int TRIES = 60;

  private static final Duration BETWEEN_TRIES = Duration.ofSeconds(1);

  private static final String ACQUIRE =
      "INSERT INTO cluster_lease (name, owner, expires) VALUES (?, ?, now() + interval '"
          + SECONDS
          + " seconds') ON CONFLICT (name) DO UPDATE SET owner = excluded.owner,"
          + " expires = excluded.expires"
          + " WHERE cluster_lease.owner = excluded.owner OR cluster_lease.expires < now()";

  private static final String RELEASE = "DELETE FROM cluster_lease WHERE name = ? AND owner = ?";

  private final LeaseSettings settings;
  private final Executor threads = task -> Thread.ofVirtual().name("cluster-lease").start(task);
  private final String url;
  private final String user;
  private final String password;
  private volatile boolean held;

  /** For Pekko, which makes it by reflection. */
  public JournalLease(LeaseSettings settings, ExtendedActorSystem system) {
    this.settings = settings;
    Config database = system.settings().config().getConfig(Journal.DATABASE + ".db");
    this.url = database.getString("url");
    this.user = database.getString("user");
    this.password = database.getString("password");
  }

  @Override
  public LeaseSettings getSettings() {
    return settings;
  }

  @Override
  public CompletionStage<Boolean> acquire() {
    return tried(ACQUIRE, TRIES)
        .thenApply(
            acquired -> {
              LOG.info("hosts were lost: this side {}", acquired ? "goes on" : "ends");
              held = acquired;
              return acquired;
            });
  }

  @Override
  public CompletionStage<Boolean> acquire(Consumer<Optional<Throwable>> lost) {
    return acquire();
  }

  @Override
  public CompletionStage<Boolean> release() {
    held = false;
    return tried(RELEASE, 1);
  }

  @Override
  public boolean checkLease() {
    return held;
  }

  private CompletableFuture<Boolean> tried(String statement, int tries) {
    return CompletableFuture.supplyAsync(() -> run(statement), threads)
        .thenCompose(
            changed ->
                changed.isPresent() || tries == 1
                    ? CompletableFuture.completedFuture(changed.orElse(false))
                    : CompletableFuture.runAsync(() -> {}, later())
                        .thenCompose(_ -> tried(statement, tries - 1)));
  }

  private Executor later() {
    return CompletableFuture.delayedExecutor(
        BETWEEN_TRIES.toMillis(), TimeUnit.MILLISECONDS, threads);
  }

  /** Whether a row was changed; empty when the database could not be asked. */
  private Optional<Boolean> run(String sql) {
    try (Connection connection = DriverManager.getConnection(url, user, password);
        PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setString(1, settings.leaseName());
      statement.setString(2, settings.ownerName());
      return Optional.of(statement.executeUpdate() > 0);
    } catch (SQLException e) {
      LOG.warn("the journal's database cannot be asked which hosts go on: {}", e.getMessage());
      return Optional.empty();
    }
  }
}
