package io.envapi.app;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import org.flywaydb.core.Flyway;

/** The embedded journal: where it is, and its tables. */
final class Journal {

  private Journal() {}

  /**
   * The address of the database. {@code WRITE_DELAY=0}: an event that was acknowledged survives a
   * SIGKILL, which H2's default of 500 ms does not give. The database is closed after everything
   * that writes to it has ended, and not in a hook of its own.
   */
  static String url(Path directory) {
    return "jdbc:h2:file:"
        + directory.resolve("journal")
        + ";WRITE_DELAY=0;DB_CLOSE_ON_EXIT=FALSE;DB_CLOSE_DELAY=-1;TRACE_LEVEL_FILE=0"
        + ";MAX_LENGTH_INPLACE_LOB=65536";
  }

  /** Brings the tables up to date. */
  static void migrate(String url) {
    Flyway.configure().dataSource(url, "", "").locations("classpath:schema/h2").load().migrate();
  }

  /** Writes everything out and closes the database, which outlives its last connection. */
  static void close(String url) throws SQLException {
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement()) {
      statement.execute("SHUTDOWN");
    }
  }

  static Config config(String url) {
    return ConfigFactory.parseMap(
        Map.of("pekko-persistence-jdbc.shared-databases.slick.db.url", url));
  }
}
