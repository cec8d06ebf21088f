package io.envapi.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.Map;
import java.util.Objects;
import org.flywaydb.core.Flyway;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A journal of an earlier version is read, and its tables are brought up to date. */
class OldJournalTest {

  private static final String ENVIRONMENT = "env_0123456789ab";

  @TempDir Path directory;

  @Test
  void theFirstVersionsJournalIsTakenUp() throws Exception {
    Path root = Files.createDirectory(directory.resolve("root"));
    Files.writeString(root.resolve("host-id"), "host_0123456789ab\n");
    Path journal = Files.createDirectory(root.resolve("journal"));
    write("jdbc:h2:file:" + journal.resolve("journal"));
    try (RunningService service = RunningService.start(directory, Map.of())) {
      Client client = service.as("alice");
      JsonNode environment = client.get("/v1/environments/" + ENVIRONMENT).expect(200);
      assertThat(environment.path("name").asText()).isEqualTo("old");
      assertThat(environment.path("labels").path("team").asText()).isEqualTo("red");
      assertThat(environment.path("shells")).hasSize(2);
      JsonNode ran = client.get("/v1/commands/cmd_0123456789ab_1_1").expect(200);
      assertThat(ran.path("state").asText()).isEqualTo("exited");
      JsonNode lost = client.get("/v1/commands/cmd_0123456789ab_2_1").expect(200);
      assertThat(lost.path("reason").asText()).isEqualTo("service_restarted");
      JsonNode usage = client.get("/v1/environments/" + ENVIRONMENT + "/usage").expect(200);
      assertThat(usage.path("limits").path("cpu_seconds").asInt()).isEqualTo(77);
      assertThat(client.shell(ENVIRONMENT)).isEqualTo("sh_0123456789ab_3");
      client.delete("/v1/environments/" + ENVIRONMENT).expect(204);
    }
  }

  private static void write(String url) throws Exception {
    Flyway.configure()
        .dataSource(url, "", "")
        .locations("classpath:schema/h2")
        .target("1")
        .load()
        .migrate();
    try (InputStream sql =
            Objects.requireNonNull(OldJournalTest.class.getResourceAsStream("/journals/v1.sql"));
        Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement()) {
      statement.execute(new String(sql.readAllBytes(), StandardCharsets.UTF_8));
    }
  }
}
