package io.envapi.app;

import io.envapi.environment.JournalRows;
import io.envapi.id.EnvironmentId;
import io.envapi.id.ShellId;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes rows of the journal. With connections of its own: what is deleted here belongs to no
 * actor that writes.
 *
 * @param threads those that wait for the database
 */
record SqlRows(Journal journal, Executor threads) implements JournalRows {

  private static final Logger LOG = LoggerFactory.getLogger(SqlRows.class);

  private static final List<String> TABLES = List.of("event_journal", "snapshot");

  /** The character after the {@code _} that a shell's number follows. */
  private static final String AFTER = "`";

  @Override
  public CompletionStage<Void> forget(List<ShellId> shells) {
    return CompletableFuture.runAsync(() -> deleteShells(shells), threads);
  }

  @Override
  public CompletionStage<Void> forget(EnvironmentId environment) {
    return CompletableFuture.runAsync(() -> deleteAll(environment), threads);
  }

  private void deleteShells(List<ShellId> shells) {
    delete(
        "\"persistence_id\" = ?",
        shells.stream().map(shell -> List.of("Shell|" + shell.value())).toList());
  }

  private void deleteAll(EnvironmentId environment) {
    delete("\"persistence_id\" = ?", List.of(List.of("Environment|" + environment.value())));
    String shells = "Shell|sh_" + environment.hex();
    delete(
        "\"persistence_id\" > ? AND \"persistence_id\" < ?",
        List.of(List.of(shells + "_", shells + AFTER)));
  }

  /**
   * Deletes the idempotency keys of accounts that have used none for as long as one is kept. The
   * entity of such keys forgets them itself, but only when it is asked again. Blocks.
   *
   * @param before epoch ms
   */
  void forgetKeys(long before) {
    String keys = "\"persistence_id\" > 'Idempotency|' AND \"persistence_id\" < 'Idempotency}'";
    String events =
        "DELETE FROM \"event_journal\" WHERE \"persistence_id\" IN (SELECT \"persistence_id\""
            + " FROM \"event_journal\" WHERE "
            + keys
            + " GROUP BY \"persistence_id\" HAVING MAX(\"write_timestamp\") < ?)";
    String snapshots =
        "DELETE FROM \"snapshot\" WHERE "
            + keys
            + " AND \"created\" < ? AND \"persistence_id\" NOT IN"
            + " (SELECT \"persistence_id\" FROM \"event_journal\" WHERE "
            + keys
            + ")";
    try (Connection connection = journal.connect()) {
      for (String sql : List.of(events, snapshots)) {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
          statement.setLong(1, before);
          statement.executeUpdate();
        }
      }
    } catch (SQLException e) {
      LOG.warn("old idempotency keys stay in the journal for now: {}", e.getMessage());
    }
  }

  private void delete(String which, List<List<String>> parameters) {
    try (Connection connection = journal.connect()) {
      for (String table : TABLES) {
        String sql = "DELETE FROM \"%s\" WHERE %s".formatted(table, which);
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
          for (List<String> each : parameters) {
            for (int i = 0; i < each.size(); i++) {
              statement.setString(i + 1, each.get(i));
            }
            statement.addBatch();
          }
          statement.executeBatch();
        }
      }
    } catch (SQLException e) {
      throw new IllegalStateException("rows of the journal cannot be deleted", e);
    }
  }
}
