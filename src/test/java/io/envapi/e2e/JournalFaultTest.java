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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A file system without room refuses, and is used again when there is room. */
class JournalFaultTest {

  private static final String SIZE = "8m";

  @TempDir Path directory;
  private Path small;

  @BeforeEach
  void mount() throws Exception {
    small = Files.createDirectory(directory.resolve("small"));
    boolean mounted =
        run("mount", "-t", "tmpfs", "-o", "size=" + SIZE + ",mode=711", "tmpfs", small.toString());
    assumeTrue(mounted, "mounting a tmpfs needs CAP_SYS_ADMIN");
  }

  @AfterEach
  void unmount() throws Exception {
    run("umount", "--lazy", small.toString());
  }

  @Test
  void aFullDiskIsRefusedAndForgottenWhenThereIsRoom() throws Exception {
    Map<String, String> variables =
        Map.of("ENVAPI_ROOT", small.toString(), "ENVAPI_ASK_TIMEOUT_SECONDS", "3");
    try (RunningService service = RunningService.start(directory, variables)) {
      Client client = service.as("alice");
      String environment = client.environment("before");
      Path filler = small.resolve("filler");
      fill(filler);

      // The journal has a little room in the blocks of its own file.
      await()
          .atMost(Duration.ofSeconds(60))
          .untilAsserted(
              () -> {
                fill(filler);
                Answer refused = client.post("/v1/environments", Map.of("name", "during"));
                refused.refused(503, "journal_unavailable");
                assertThat(refused.header("Retry-After")).isNotEmpty();
                // So is what is asked while the account starts again.
                client.get("/v1/environments").refused(503, "journal_unavailable");
              });

      Files.delete(filler);
      await()
          .atMost(Duration.ofSeconds(60))
          .untilAsserted(() -> client.get("/v1/environments/" + environment).expect(200));
      await()
          .atMost(Duration.ofSeconds(60))
          .untilAsserted(
              () -> {
                String shell = client.shell(environment);
                assertThat(
                        client
                            .exec(shell, "echo again", 10_000)
                            .expect(200)
                            .path("output")
                            .asText())
                    .isEqualTo("again\n");
              });
    }
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
