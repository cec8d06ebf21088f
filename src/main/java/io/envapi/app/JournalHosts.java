package io.envapi.app;

import io.envapi.id.HostId;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
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

  private static final Duration LOOK = Duration.ofSeconds(1);

  /** Says that this host is there; what fails is done again soon. */
  void beat(Address address) {
    update(
        "INSERT INTO cluster_host (host_id, address, seen) VALUES (?, ?, now())"
            + " ON CONFLICT (host_id) DO UPDATE SET address = excluded.address, seen = now()",
        own.value(),
        address.toString());
  }

  /** Says that this host is there no more. */
  void gone() {
    update("DELETE FROM cluster_host WHERE host_id = ?", own.value());
  }

  private void update(String sql, String... values) {
    if (!journal.isShared()) {
      return;
    }
    try (Connection connection = journal.connect();
        PreparedStatement statement = connection.prepareStatement(sql)) {
      for (int i = 0; i < values.length; i++) {
        statement.setString(i + 1, values[i]);
      }
      statement.executeUpdate();
    } catch (SQLException e) {
      LOG.warn("the journal's database does not know of this host: {}", e.getMessage());
    }
  }

  /** Where the others are. */
  List<Address> others() throws SQLException {
    var found = new ArrayList<Address>();
    if (!journal.isShared()) {
      return found;
    }
    try (Connection connection = journal.connect();
        PreparedStatement statement =
            connection.prepareStatement(
                "SELECT address FROM cluster_host WHERE host_id <> ?"
                    + " AND seen > now() - interval '"
                    + LOST_SECONDS
                    + " seconds' ORDER BY host_id")) {
      statement.setString(1, own.value());
      try (ResultSet rows = statement.executeQuery()) {
        while (rows.next()) {
          found.add(AddressFromURIString.parse(rows.getString(1)));
        }
      }
    }
    return found;
  }

  /** Whether there is none, or none any more after the time it takes to notice a lost one. */
  boolean isAlone() throws SQLException {
    long end = System.nanoTime() + Duration.ofSeconds(LOST_SECONDS + 1).toNanos();
    try {
      while (!others().isEmpty()) {
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
}
