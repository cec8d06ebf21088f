package io.envapi.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An environment whose oldest events the journal does not have any more. */
class PrunedEventsTest {

  @TempDir Path directory;

  @Test
  void whatIsGoneIsTold() throws Exception {
    try (RunningApi api = RunningApi.start(directory, Map.of())) {
      String environment = api.environment();
      for (int i = 0; i < 3; i++) {
        var open =
            api.request(environment + "/shells").POST(HttpRequest.BodyPublishers.ofString("{}"));
        assertThat(api.send(open).statusCode()).isEqualTo(201);
      }
      deleteUpTo(environment.substring(environment.lastIndexOf('/') + 1), 2);
      var fromStart =
          api.client.sendAsync(
              api.request(environment + "/events").build(), HttpResponse.BodyHandlers.ofLines());
      var resumed =
          api.client.sendAsync(
              api.request(environment + "/events").header("Last-Event-ID", "2").build(),
              HttpResponse.BodyHandlers.ofLines());
      List<String> first =
          fromStart.get(30, TimeUnit.SECONDS).body().takeWhile(l -> !l.equals("id: 4")).toList();
      assertThat(first)
          .containsSequence(
              "id: 2",
              "event: dropped",
              "data: {\"cursor\":0,\"next_cursor\":2,\"events\":2,\"first_seq\":3}",
              "",
              "id: 3",
              "event: shell_opened");
      assertThat(
              resumed.get(30, TimeUnit.SECONDS).body().takeWhile(l -> !l.equals("id: 4")).toList())
          .startsWith("id: 3")
          .noneMatch(line -> line.contains("dropped"));
    }
  }

  private void deleteUpTo(String environment, long number) throws Exception {
    try (Connection journal =
            DriverManager.getConnection(Journal.embedded(directory.resolve("journal")).url());
        PreparedStatement delete =
            journal.prepareStatement(
                "DELETE FROM \"event_journal\" WHERE \"persistence_id\" = ?"
                    + " AND \"sequence_number\" <= ?")) {
      delete.setString(1, "Environment|" + environment);
      delete.setLong(2, number);
      assertThat(delete.executeUpdate()).isEqualTo(2);
    }
  }
}
