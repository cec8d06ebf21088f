package io.envapi.app;

import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.sql.SQLException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** How the service reaches the database of its journal. */
class JournalTest {

  /** The length of what a client sends to ask whether it may encrypt. */
  private static final int ENCRYPTION_REQUEST = 8;

  @Test
  void aDatabaseThatStopsToAnswerIsNotWaitedFor() throws Exception {
    try (var server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      Thread.ofVirtual().start(() -> fallSilent(server));
      var journal =
          new Journal(
              Journal.Kind.POSTGRESQL,
              "jdbc:postgresql://127.0.0.1:" + server.getLocalPort() + "/envapi",
              "envapi",
              "");
      assertTimeoutPreemptively(
          Duration.ofSeconds(20),
          () -> assertThatThrownBy(journal::connect).isInstanceOf(SQLException.class));
    }
  }

  /** Accepts a client that wants no encryption, and says nothing to its greeting. */
  private static void fallSilent(ServerSocket server) {
    try (Socket client = server.accept()) {
      var in = new DataInputStream(client.getInputStream());
      while (in.readInt() == ENCRYPTION_REQUEST) {
        in.readInt();
        client.getOutputStream().write('N');
      }
      in.transferTo(OutputStream.nullOutputStream());
    } catch (IOException e) {
      // The client has given up.
    }
  }
}
