package io.envapi.e2e;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.function.Consumer;

/** The journal of a service that does not run, opened by the test. */
final class JournalFile implements AutoCloseable {

  private final Connection connection;

  JournalFile(Path root) throws SQLException {
    Path file = root.resolve("journal").resolve("journal");
    this.connection = DriverManager.getConnection("jdbc:h2:file:" + file);
  }

  /** Changes the event that tells of the opening of {@code shell}; how many there were. */
  int rewriteShell(String shell, Consumer<ObjectNode> change) throws SQLException, IOException {
    int changed = 0;
    try (Statement select = connection.createStatement();
        PreparedStatement update =
            connection.prepareStatement(
                "UPDATE \"event_journal\" SET \"event_payload\" = ? WHERE \"ordering\" = ?");
        ResultSet events =
            select.executeQuery(
                "SELECT \"ordering\", \"event_payload\" FROM \"event_journal\""
                    + " WHERE \"persistence_id\" LIKE 'Environment|%'")) {
      while (events.next()) {
        ObjectNode event = (ObjectNode) Client.JSON.readTree(events.getBytes(2));
        if (event.path("type").asText().equals("shell-opened")
            && event.path("shell").path("id").asText().equals(shell)) {
          change.accept((ObjectNode) event.path("shell"));
          update.setBytes(1, Client.JSON.writeValueAsBytes(event));
          update.setLong(2, events.getLong(1));
          changed += update.executeUpdate();
        }
      }
    }
    return changed;
  }

  /** Events of persistence ids like this, those marked as deleted among them. */
  int events(String like) throws SQLException {
    return count("event_journal", like);
  }

  int snapshots(String like) throws SQLException {
    return count("snapshot", like);
  }

  private int count(String table, String like) throws SQLException {
    try (PreparedStatement count =
        connection.prepareStatement(
            "SELECT COUNT(*) FROM \"%s\" WHERE \"persistence_id\" LIKE ?".formatted(table))) {
      count.setString(1, like);
      try (ResultSet result = count.executeQuery()) {
        result.next();
        return result.getInt(1);
      }
    }
  }

  /** Moves all rows of an actor this far up, as if so much had come before. */
  void shift(String persistenceId, int by) throws SQLException {
    for (String table : new String[] {"event_journal", "snapshot"}) {
      try (PreparedStatement update =
          connection.prepareStatement(
              ("UPDATE \"%s\" SET \"sequence_number\" = \"sequence_number\" + ?"
                      + " WHERE \"persistence_id\" = ?")
                  .formatted(table))) {
        update.setInt(1, by);
        update.setString(2, persistenceId);
        update.executeUpdate();
      }
    }
  }

  @Override
  public void close() throws SQLException {
    // The file outlives its last connection otherwise: that setting of the service is stored in it.
    try (Statement statement = connection.createStatement()) {
      statement.execute("SHUTDOWN");
    }
    connection.close();
  }
}
