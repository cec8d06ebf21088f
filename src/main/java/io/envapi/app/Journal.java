package io.envapi.app;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.Properties;
import org.flywaydb.core.Flyway;

/**
 * The database of the journal, and its tables: an H2 embedded below the data root, or a PostgreSQL
 * that the operator names.
 */
record Journal(Kind kind, String url, String user, String password) {

  /** A kind of database: how it is spoken to, and where the migrations of its tables are. */
  enum Kind {
    H2("slick.jdbc.H2Profile$", "org.h2.Driver", "classpath:schema/h2"),
    POSTGRESQL(
        "slick.jdbc.PostgresProfile$", "org.postgresql.Driver", "classpath:schema/postgresql");

    private final String profile;
    private final String driver;
    private final String schema;

    Kind(String profile, String driver, String schema) {
      this.profile = profile;
      this.driver = driver;
      this.schema = schema;
    }
  }

  /** For statements that delete many rows. */
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private static final Duration MOST_TO_CONNECT = Duration.ofSeconds(5);

  /** Where its settings are among those of Pekko. */
  static final String DATABASE = "pekko-persistence-jdbc.shared-databases.slick";

  private static final String FOR_READERS = "pekko-persistence-jdbc.shared-databases.readers";

  /** The one that the {@code journal} settings name, or else the embedded one. */
  static Journal of(Config envapi, Path directory) {
    String url = envapi.getString("journal.url");
    return url.isEmpty()
        ? embedded(directory)
        : new Journal(
            Kind.POSTGRESQL,
            url,
            envapi.getString("journal.user"),
            envapi.getString("journal.password"));
  }

  /**
   * {@code WRITE_DELAY=0}: an event that was acknowledged survives a SIGKILL, which H2's default of
   * 500 ms does not give. The database is closed after everything that writes to it has ended, and
   * not in a hook of its own.
   *
   * <p>Every write takes about 26 KiB of the file, which H2 uses again when they are older than
   * {@code RETENTION_TIME}: its default of 45 s lets the file of a busy service grow by gigabytes.
   */
  static Journal embedded(Path directory) {
    return new Journal(
        Kind.H2,
        "jdbc:h2:file:"
            + directory.resolve("journal")
            + ";WRITE_DELAY=0;DB_CLOSE_ON_EXIT=FALSE;DB_CLOSE_DELAY=-1;TRACE_LEVEL_FILE=0"
            + ";MAX_LENGTH_INPLACE_LOB=65536;RETENTION_TIME=1000",
        "",
        "");
  }

  /** Brings the tables up to date. */
  void migrate() {
    Flyway.configure().dataSource(url, user, password).locations(kind.schema).load().migrate();
  }

  Connection connect() throws SQLException {
    return connect(PATIENCE);
  }

  /**
   * A connection that fails rather than wait for a database that is gone without a word.
   *
   * @param patience how long each answer may take; connecting takes as long, and 5 s at most
   */
  Connection connect(Duration patience) throws SQLException {
    var properties = new Properties();
    properties.setProperty("user", user);
    properties.setProperty("password", password);
    if (kind == Kind.POSTGRESQL) {
      String connecting =
          seconds(patience.compareTo(MOST_TO_CONNECT) < 0 ? patience : MOST_TO_CONNECT);
      properties.setProperty("connectTimeout", connecting);
      properties.setProperty("loginTimeout", connecting);
      properties.setProperty("socketTimeout", seconds(patience));
    }
    return DriverManager.getConnection(url, properties);
  }

  private static String seconds(Duration time) {
    return Long.toString(time.toSeconds());
  }

  /** Whether other hosts can use it too. */
  boolean isShared() {
    return kind == Kind.POSTGRESQL;
  }

  /** An embedded one outlives its last connection: writes everything out and closes it. */
  void close() throws SQLException {
    if (kind == Kind.H2) {
      try (Connection connection = connect();
          Statement statement = connection.createStatement()) {
        statement.execute("SHUTDOWN");
      }
    }
  }

  Config config() {
    return config(DATABASE).withFallback(config(FOR_READERS));
  }

  private Config config(String database) {
    return ConfigFactory.parseMap(
        Map.of(
            database + ".profile", kind.profile,
            database + ".db.driver", kind.driver,
            database + ".db.url", url,
            database + ".db.user", user,
            database + ".db.password", password));
  }

  /** Without the address and what opens it. */
  @Override
  public String toString() {
    return "Journal[%s]".formatted(kind);
  }
}
