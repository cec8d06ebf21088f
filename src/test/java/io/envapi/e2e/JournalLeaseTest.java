package io.envapi.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.typesafe.config.ConfigFactory;
import io.envapi.app.JournalLease;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
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

  @Test
  void oneSideAloneHasIt(@TempDir Path directory) throws Exception {
    try (Postgres postgres = Postgres.start(directory)) {
      Flyway.configure()
          .dataSource(postgres.url(), postgres.user(), postgres.password())
          .locations("classpath:schema/postgresql")
          .load()
          .migrate();
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

  private static Lease lease(ActorSystem system, String owner) {
    return LeaseProvider.get(system).getLease("sides", "lease", owner);
  }

  private static ActorSystem system(Postgres postgres) {
    var settings = new HashMap<String, Object>();
    String database = "pekko-persistence-jdbc.shared-databases.slick.db.";
    settings.put(database + "url", postgres.url());
    settings.put(database + "user", postgres.user());
    settings.put(database + "password", postgres.password());
    settings.put("lease.lease-class", JournalLease.class.getName());
    return ActorSystem.create(
        "lease", ConfigFactory.parseMap(settings).withFallback(ConfigFactory.defaultReference()));
  }

  private static void expire(Postgres postgres) throws Exception {
    try (Connection connection =
            DriverManager.getConnection(postgres.url(), postgres.user(), postgres.password());
        Statement statement = connection.createStatement()) {
      statement.execute("UPDATE cluster_lease SET expires = now() - interval '1 second'");
    }
  }
}
