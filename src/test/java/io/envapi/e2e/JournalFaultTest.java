package io.envapi.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.assertj.core.api.ThrowingConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A file system without room refuses, and is used again when there is room. */
class JournalFaultTest {

  private static final Duration SOON = Duration.ofSeconds(60);

  @TempDir Path directory;
  private Path root;
  private Path mounted;

  private void mount(Path at) throws Exception {
    root = directory.resolve("root");
    mounted = Files.createDirectories(at);
    boolean done =
        run("mount", "-t", "tmpfs", "-o", "size=8m,mode=711", "tmpfs", mounted.toString());
    assumeTrue(done, "mounting a tmpfs needs CAP_SYS_ADMIN");
  }

  @AfterEach
  void unmount() throws Exception {
    run("umount", "--lazy", mounted.toString());
  }

  @Test
  void aJournalWithoutRoomIsUnavailableUntilThereIsRoom() throws Exception {
    mount(directory.resolve("root/journal"));
    fillsUp(
        client -> {
          useRoomOfItsOwn(client);
          Answer refused = client.post("/v1/environments", Map.of("name", "during"));
          refused.refused(503, "journal_unavailable");
          assertThat(refused.header("Retry-After")).isNotEmpty();
          // So is what is asked while the account starts again.
          client.get("/v1/environments").refused(503, "journal_unavailable");
        });
  }

  /** The audit, the workspaces and the journal run out of room in no particular order. */
  @Test
  void aFullDiskIsRefusedAndForgottenWhenThereIsRoom() throws Exception {
    mount(directory.resolve("root"));
    fillsUp(
        client -> {
          Answer refused = client.post("/v1/environments", Map.of("name", "during"));
          assertThat(refused.status() + " " + refused.body().path("code").asText())
              .isIn("507 insufficient_storage", "503 journal_unavailable");
        });
  }

  private void fillsUp(ThrowingConsumer<Client> refused) throws Exception {
    try (RunningService service = start()) {
      Client client = service.as("alice");
      String environment = client.environment("before");
      Path filler = mounted.resolve("filler");
      await()
          .atMost(SOON)
          .untilAsserted(
              () -> {
                fill(filler);
                refused.accept(client);
              });
      Files.delete(filler);
      recovers(client, environment);
    }
  }

  /** The embedded journal uses the blocks of its file again that have held nothing for a second. */
  private static void useRoomOfItsOwn(Client client) throws Exception {
    Answer created = client.post("/v1/environments", Map.of("name", "brief"));
    while (created.status() == 201) {
      client.delete("/v1/environments/" + created.body().path("id").asText());
      created = client.post("/v1/environments", Map.of("name", "brief"));
    }
  }

  private RunningService start() throws Exception {
    Map<String, String> variables =
        Map.of("ENVAPI_ROOT", root.toString(), "ENVAPI_ASK_TIMEOUT_SECONDS", "3");
    return RunningService.start(directory, variables);
  }

  private static void recovers(Client client, String environment) {
    await()
        .atMost(SOON)
        .untilAsserted(() -> client.get("/v1/environments/" + environment).expect(200));
    await()
        .atMost(SOON)
        .untilAsserted(
            () -> {
              String shell = client.shell(environment);
              Answer ended = client.exec(shell, "echo again", 10_000);
              assertThat(ended.expect(200).path("output").asText()).isEqualTo("again\n");
            });
  }

  private static void fill(Path file) throws IOException {
    byte[] block = new byte[4096];
    try (OutputStream out =
        Files.newOutputStream(
            file,
            java.nio.file.StandardOpenOption.CREATE,
            java.nio.file.StandardOpenOption.APPEND)) {
      while (true) {
        out.write(block);
      }
    } catch (IOException full) {
      assertThat(full).hasMessageContaining("No space left");
    }
  }

  private static boolean run(String... command) throws Exception {
    return new ProcessBuilder(command).inheritIO().start().waitFor() == 0;
  }
}
