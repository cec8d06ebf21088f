package io.envapi.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.envapi.id.EnvironmentId;
import io.envapi.id.ShellId;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which rows of the journal are deleted, and which are not. */
class SqlRowsTest {

  private static final EnvironmentId ENVIRONMENT = new EnvironmentId("env_0123456789ab");
  private static final String SHELL = "Shell|sh_0123456789ab_";

  @TempDir Path directory;
  private Journal journal;
  private SqlRows rows;

  @BeforeEach
  void open() {
    journal = Journal.embedded(directory);
    journal.migrate();
    rows = new SqlRows(journal, Runnable::run);
  }

  @AfterEach
  void close() throws SQLException {
    journal.close();
  }

  @Test
  void anEnvironmentGoesWithAllItsShellsAndNobodyElse() throws SQLException {
    event("Environment|env_0123456789ab", 1, 0);
    snapshot("Environment|env_0123456789ab", 1, 0);
    event(SHELL + "1", 1, 0);
    event(SHELL + "1", 2, 0);
    event(SHELL + "9999", 1, 0);
    snapshot(SHELL + "12", 1, 0);
    List<String> others =
        List.of(
            "Environment|env_0123456789ac",
            "Host|h",
            "Shell|sh_0123456789aa_1",
            "Shell|sh_0123456789ac_1");
    for (String other : others) {
      event(other, 1, 0);
      snapshot(other, 1, 0);
    }
    rows.forget(ENVIRONMENT);
    assertThat(ids("event_journal")).containsExactlyElementsOf(others);
    assertThat(ids("snapshot")).containsExactlyElementsOf(others);
  }

  @Test
  void shellsGoWithoutThoseWhoseNumberBeginsAlike() throws SQLException {
    for (int number : new int[] {1, 2, 10, 11}) {
      event(SHELL + number, 1, 0);
      snapshot(SHELL + number, 1, 0);
    }
    rows.forget(List.of(ShellId.of(ENVIRONMENT, 1), ShellId.of(ENVIRONMENT, 11)));
    assertThat(ids("event_journal")).containsExactly(SHELL + 10, SHELL + 2);
    assertThat(ids("snapshot")).containsExactly(SHELL + 10, SHELL + 2);
  }

  @Test
  void keysGoWhenTheNewestOfTheirBucketIsOld() throws SQLException {
    event("Idempotency|a-0", 1, 10);
    event("Idempotency|a-0", 2, 99);
    snapshot("Idempotency|a-0", 1, 50);
    event("Idempotency|b-0", 1, 10);
    event("Idempotency|b-0", 2, 100);
    snapshot("Idempotency|b-0", 1, 50);
    event("Account|alice", 1, 10);
    rows.forgetKeys(100);
    assertThat(ids("event_journal"))
        .containsExactly("Account|alice", "Idempotency|b-0", "Idempotency|b-0");
    assertThat(ids("snapshot")).containsExactly("Idempotency|b-0");
  }

  private void event(String id, long number, long at) throws SQLException {
    insert(
        "INSERT INTO \"event_journal\" (\"persistence_id\", \"sequence_number\", \"writer\","
            + " \"write_timestamp\", \"adapter_manifest\", \"event_payload\", \"event_ser_id\","
            + " \"event_ser_manifest\") VALUES (?, ?, '', ?, '', X'00', 1, '')",
        id,
        number,
        at);
  }

  private void snapshot(String id, long number, long at) throws SQLException {
    insert(
        "INSERT INTO \"snapshot\" (\"persistence_id\", \"sequence_number\", \"created\","
            + " \"snapshot_ser_id\", \"snapshot_ser_manifest\", \"snapshot_payload\")"
            + " VALUES (?, ?, ?, 1, '', X'00')",
        id,
        number,
        at);
  }

  private void insert(String sql, String id, long number, long at) throws SQLException {
    try (Connection connection = journal.connect();
        PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setString(1, id);
      statement.setLong(2, number);
      statement.setLong(3, at);
      statement.executeUpdate();
    }
  }

  private List<String> ids(String table) throws SQLException {
    List<String> ids = new ArrayList<>();
    try (Connection connection = journal.connect();
        Statement statement = connection.createStatement();
        ResultSet found =
            statement.executeQuery(
                "SELECT \"persistence_id\" FROM \"%s\" ORDER BY \"persistence_id\""
                    .formatted(table))) {
      while (found.next()) {
        ids.add(found.getString(1));
      }
    }
    return ids;
  }
}
