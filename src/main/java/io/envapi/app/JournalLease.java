package io.envapi.app;

import com.typesafe.config.Config;
import java.sql.Connection;
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

  /**
   * How long it is tried in all: a database that is away stops everything, which is no reason to
   * end as well. Much shorter than the lease is held, or the side whose way to the database is back
   * last would get it too.
   */
  private static final Duration TRYING = Duration.ofSeconds(15);

  /** How long the database may take to be reached, and as long again to answer. */
  private static final Duration PATIENCE = Duration.ofSeconds(3);

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
  private final Journal journal;
  private volatile boolean held;

  /** For Pekko, which makes it by reflection. */
  public JournalLease(LeaseSettings settings, ExtendedActorSystem system) {
    this.settings = settings;
    Config database = system.settings().config().getConfig(Journal.DATABASE + ".db");
    this.journal =
        new Journal(
            Journal.Kind.POSTGRESQL,
            database.getString("url"),
            database.getString("user"),
            database.getString("password"));
  }

  @Override
  public LeaseSettings getSettings() {
    return settings;
  }

  @Override
  public CompletionStage<Boolean> acquire() {
    return tried(ACQUIRE, System.nanoTime() + TRYING.toNanos())
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
    return tried(RELEASE, System.nanoTime());
  }

  @Override
  public boolean checkLease() {
    return held;
  }

  /**
   * Whether a row was changed, as far as the database could be asked.
   *
   * @param end when the last try is to be over; in nanoseconds, as {@link System#nanoTime}
   */
  private CompletableFuture<Boolean> tried(String statement, long end) {
    return CompletableFuture.supplyAsync(() -> run(statement), threads)
        .thenCompose(
            changed ->
                changed.isPresent() || !isTimeForAnother(end)
                    ? CompletableFuture.completedFuture(changed.orElse(false))
                    : CompletableFuture.runAsync(() -> {}, later())
                        .thenCompose(_ -> tried(statement, end)));
  }

  private static boolean isTimeForAnother(long end) {
    Duration another = BETWEEN_TRIES.plus(PATIENCE.multipliedBy(2));
    return end - System.nanoTime() > another.toNanos();
  }

  private Executor later() {
    return CompletableFuture.delayedExecutor(
        BETWEEN_TRIES.toMillis(), TimeUnit.MILLISECONDS, threads);
  }

  /** Whether a row was changed; empty when the database could not be asked. */
  private Optional<Boolean> run(String sql) {
    try (Connection connection = journal.connect(PATIENCE);
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
