package io.envapi.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.typesafe.config.ConfigFactory;
import io.envapi.app.JournalLease;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashMap;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.coordination.lease.javadsl.Lease;
import org.apache.pekko.coordination.lease.javadsl.LeaseProvider;
import org.flywaydb.core.Flyway;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The lease that sides of a divided cluster compete for, in a real PostgreSQL. */
class JournalLeaseTest {

  /** Of {@code pekko.conf}: in seconds, while Pekko keeps what one side got. */
  private static final int RELEASE_AFTER = 20;

  @Test
  void oneSideAloneHasIt(@TempDir Path directory) throws Exception {
    try (Postgres postgres = Postgres.start(directory)) {
      migrate(postgres);
      ActorSystem system = system(postgres);
      try {
        Lease here = lease(system, "here:7355");
        Lease there = lease(system, "there:7355");
        assertThat(here.acquire().toCompletableFuture().get(30, TimeUnit.SECONDS)).isTrue();
        assertThat(here.checkLease()).isTrue();
        assertThat(there.acquire().toCompletableFuture().get(30, TimeUnit.SECONDS)).isFalse();
        assertThat(there.checkLease()).isFalse();
        assertThat(here.acquire().toCompletableFuture().get(30, TimeUnit.SECONDS)).isTrue();

        there.release().toCompletableFuture().get(30, TimeUnit.SECONDS);
        assertThat(there.acquire().toCompletableFuture().get(30, TimeUnit.SECONDS)).isFalse();
        here.release().toCompletableFuture().get(30, TimeUnit.SECONDS);
        assertThat(there.acquire().toCompletableFuture().get(30, TimeUnit.SECONDS)).isTrue();

        expire(postgres);
        assertThat(here.acquire().toCompletableFuture().get(30, TimeUnit.SECONDS)).isTrue();

        postgres.end();
        var asked = there.acquire().toCompletableFuture();
        postgres.begin();
        assertThat(asked.get(60, TimeUnit.SECONDS)).isFalse();
      } finally {
        system.terminate();
      }
    }
  }

  @Test
  void whoCannotReachTheDatabaseIsGivenUpBeforeTheLeaseOfTheOthersEnds() throws Exception {
    try (var silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      ActorSystem system =
          system("jdbc:postgresql://127.0.0.1:" + silent.getLocalPort() + "/envapi", "", "");
      try {
        assertThat(lease(system, "here:7355").acquire().toCompletableFuture())
            .succeedsWithin(Duration.ofSeconds(RELEASE_AFTER))
            .isEqualTo(false);
      } finally {
        system.terminate();
      }
    }
  }

  @Test
  void soIsWhoGetsNoAnswer(@TempDir Path directory) throws Exception {
    try (Postgres postgres = Postgres.start(directory)) {
      migrate(postgres);
      ActorSystem system = system(postgres);
      try (Connection other = connect(postgres);
          Statement statement = other.createStatement()) {
        other.setAutoCommit(false);
        statement.execute("LOCK TABLE cluster_lease");
        assertThat(lease(system, "here:7355").acquire().toCompletableFuture())
            .succeedsWithin(Duration.ofSeconds(RELEASE_AFTER))
            .isEqualTo(false);
      } finally {
        system.terminate();
      }
    }
  }

  private static void migrate(Postgres postgres) {
    Flyway.configure()
        .dataSource(postgres.url(), postgres.user(), postgres.password())
        .locations("classpath:schema/postgresql")
        .load()
        .migrate();
  }

  private static Lease lease(ActorSystem system, String owner) {
    return LeaseProvider.get(system).getLease("sides", "lease", owner);
  }

  private static ActorSystem system(Postgres postgres) {
    return system(postgres.url(), postgres.user(), postgres.password());
  }

  private static ActorSystem system(String url, String user, String password) {
    var settings = new HashMap<String, Object>();
    String database = "pekko-persistence-jdbc.shared-databases.slick.db.";
    settings.put(database + "url", url);
    settings.put(database + "user", user);
    settings.put(database + "password", password);
    settings.put("lease.lease-class", JournalLease.class.getName());
    return ActorSystem.create(
        "lease", ConfigFactory.parseMap(settings).withFallback(ConfigFactory.defaultReference()));
  }

  private static Connection connect(Postgres postgres) throws SQLException {
    return DriverManager.getConnection(postgres.url(), postgres.user(), postgres.password());
  }

  private static void expire(Postgres postgres) throws Exception {
    try (Connection connection = connect(postgres);
        Statement statement = connection.createStatement()) {
      statement.execute("UPDATE cluster_lease SET expires = now() - interval '1 second'");
    }
  }
}
