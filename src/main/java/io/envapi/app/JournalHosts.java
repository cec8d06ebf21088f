package io.envapi.app;

import io.envapi.id.HostId;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.pekko.actor.Address;
import org.apache.pekko.actor.AddressFromURIString;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Which hosts work on the journal now. Two clusters on one journal would spoil it, so none is made
 * while there are others. An embedded journal has no others.
 */
record JournalHosts(Journal journal, HostId own) {

  private static final Logger LOG = LoggerFactory.getLogger(JournalHosts.class);

  /** How often a host says that it is there. */
  static final Duration BEAT = Duration.ofSeconds(5);

  /** A host that did not say so for so long is not. */
  private static final int LOST_SECONDS = 20;

  /** Short enough for two tries before a host counts as lost. */
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private static final Duration LOOK = Duration.ofSeconds(1);

  /** The address of a host that cannot be joined: it has only just taken the journal. */
  private static final String NOWHERE = "";

  private static final String THERE =
      "INSERT INTO cluster_host (host_id, address, seen) VALUES (?, ?, now())"
          + " ON CONFLICT (host_id) DO UPDATE SET address = excluded.address, seen = now()";

  private static final String GONE = "DELETE FROM cluster_host WHERE host_id = ?";

  private static final String OTHERS =
      "SELECT address FROM cluster_host WHERE host_id <> ? AND seen > now() - interval '"
          + LOST_SECONDS
          + " seconds' ORDER BY host_id";

  /** Says that this host is there; what fails is done again soon. */
  void beat(Address address) {
    tell(THERE, own.value(), address.toString());
  }

  /** Says that this host is there no more. */
  void gone() {
    tell(GONE, own.value());
  }

  private void tell(String sql, String... values) {
    if (!journal.isShared()) {
      return;
    }
    try (Connection connection = journal.connect(PATIENCE)) {
      update(connection, sql, values);
    } catch (SQLException e) {
      LOG.warn("the journal's database does not know of this host: {}", e.getMessage());
    }
  }

  private static void update(Connection connection, String sql, String... values)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      for (int i = 0; i < values.length; i++) {
        statement.setString(i + 1, values[i]);
      }
      statement.executeUpdate();
    }
  }

  /** Where the others are that can be joined. */
  List<Address> others() throws SQLException {
    if (!journal.isShared()) {
      return List.of();
    }
    try (Connection connection = journal.connect(PATIENCE)) {
      return others(connection).stream()
          .filter(address -> !address.equals(NOWHERE))
          .map(AddressFromURIString::parse)
          .toList();
    }
  }

  private List<String> others(Connection connection) throws SQLException {
    var addresses = new ArrayList<String>();
    try (PreparedStatement statement = connection.prepareStatement(OTHERS)) {
      statement.setString(1, own.value());
      try (ResultSet rows = statement.executeQuery()) {
        while (rows.next()) {
          addresses.add(rows.getString(1));
        }
      }
    }
    return addresses;
  }

  /**
   * Takes the journal for this host alone, if need be after the time it takes to notice a lost one.
   *
   * @return false where another host uses it
   */
  boolean claim() throws SQLException {
    long end = System.nanoTime() + Duration.ofSeconds(LOST_SECONDS + 1).toNanos();
    try {
      while (!isClaimed()) {
        if (System.nanoTime() > end) {
          return false;
        }
        LOG.info("another host uses this journal, or did a moment ago: waiting");
        Thread.sleep(LOOK);
      }
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** Looks and takes it in one: of two hosts that start in the same moment only one is alone. */
  private boolean isClaimed() throws SQLException {
    if (!journal.isShared()) {
      return true;
    }
    try (Connection connection = journal.connect(PATIENCE);
        Statement lock = connection.createStatement()) {
      connection.setAutoCommit(false);
      lock.execute("LOCK TABLE cluster_host IN SHARE ROW EXCLUSIVE MODE");
      boolean alone = others(connection).isEmpty();
      if (alone) {
        update(connection, THERE, own.value(), NOWHERE);
      }
      connection.commit();
      return alone;
    }
  }
}
