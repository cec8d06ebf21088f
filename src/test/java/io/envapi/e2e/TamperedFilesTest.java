package io.envapi.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a crash can leave half done on the disk does not keep the service from starting. */
class TamperedFilesTest {

  @TempDir Path directory;

  @Test
  void halfWrittenFilesAreRepairedOrPassedOver() throws Exception {
    try (RunningService service = RunningService.start(directory, Map.of())) {
      Client client = service.as("alice");
      String environment = client.environment("kept");
      String shell = client.shell(environment);
      String command = client.exec(shell, "echo kept", 30_000).expect(200).path("id").asText();
      service.kill();
      Path root = service.root();
      Files.writeString(
          root.resolve("audit").resolve("audit.jsonl"),
          "{\"ts\": 1767225600.5, \"action\": \"environment.cr",
          StandardOpenOption.APPEND);
      Files.writeString(root.resolve("host-id.new"), "host_12");
      Files.writeString(root.resolve("lock"), "not a pid, and longer than one");
      Files.writeString(root.resolve("journal").resolve("journal.trace.db"), "torn");
      Files.writeString(root.resolve("journal").resolve("journal.mv.db.tempFile"), "torn");

      service.restart();

      assertThat(client.get("/v1/environments").expect(200).path("environments"))
          .extracting(e -> e.path("id").asText())
          .containsExactly(environment);
      assertThat(client.get("/v1/commands/" + command).expect(200).path("output").asText())
          .isEqualTo("kept\n");
      String later = client.environment("later");
      List<String> created = new ArrayList<>();
      for (JsonNode event :
          service
              .as(RunningService.OPERATOR)
              .get("/v1/admin/audit?limit=100")
              .expect(200)
              .path("events")) {
        if (event.path("action").asText().equals("environment.create")) {
          created.add(event.path("environment_id").asText());
        }
      }
      assertThat(created).containsExactly(environment, later);
    }
  }

  @Test
  void whatIsMissingAtTheEndOfAFileIsMissingAndNoMore() throws Exception {
    try (RunningService service = RunningService.start(directory, Map.of())) {
      Client client = service.as("alice");
      String environment = client.environment("kept");
      String shell = client.shell(environment);
      String command = client.exec(shell, "echo kept", 30_000).expect(200).path("id").asText();
      for (int i = 0; i < 20; i++) {
        client.exec(shell, "echo more", 30_000).expect(200);
      }
      service.kill();
      Path journal = service.root().resolve("journal").resolve("journal.mv.db");
      try (var file = FileChannel.open(journal, StandardOpenOption.WRITE)) {
        file.truncate(file.size() - 3_000);
      }
      try (Stream<Path> tree = Files.walk(service.root())) {
        for (Path log : tree.filter(p -> p.endsWith(command + ".log")).toList()) {
          Files.writeString(log, "ke");
        }
      }

      service.restart();

      client.get("/v1/environments/" + environment).expect(200);
      assertThat(client.get("/v1/commands/" + command).expect(200).path("output").asText())
          .isEqualTo("ke");
      client.exec(client.shell(environment), "true", 30_000).expect(200);
    }
  }

  @Test
  void aJournalThatCannotBeReadStopsTheStart() throws Exception {
    try (RunningService service = RunningService.start(directory, Map.of())) {
      service.kill();
      Path journal = service.root().resolve("journal").resolve("journal.mv.db");
      Files.writeString(journal, "no journal at all\n".repeat(1_000));
      try (JavaProcess broken = service.another(Map.of())) {
        assertThat(broken.exit(java.time.Duration.ofMinutes(1))).isEqualTo(1);
        assertThat(broken.log()).contains("envapi: the journal cannot be opened");
      }
    }
  }

  @Test
  void aHostIdThatIsNoneStopsTheStartInsteadOfBecomingAnotherHost() throws Exception {
    try (RunningService service = RunningService.start(directory, Map.of())) {
      String host = Files.readString(service.root().resolve("host-id"));
      service.kill();
      Files.writeString(service.root().resolve("host-id"), "");

      try (JavaProcess broken = service.another(Map.of())) {
        assertThat(broken.exit(java.time.Duration.ofMinutes(1))).isEqualTo(1);
        assertThat(broken.log().lines()).singleElement().asString().contains("host-id");
      }
      Files.writeString(service.root().resolve("host-id"), host);
      service.restart();
    }
  }
}
