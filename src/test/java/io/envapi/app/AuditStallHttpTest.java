package io.envapi.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The whole service on an audit log that nobody takes lines from. */
class AuditStallHttpTest {

  private static final Duration SOON = Duration.ofSeconds(90);

  @TempDir private Path temp;

  @Test
  void nothingPrivilegedIsDoneWhileNothingCanBeWrittenAndTheRestGoesOn() throws Exception {
    Files.setPosixFilePermissions(temp, PosixFilePermissions.fromString("rwx--x--x"));
    Path audit = Files.createDirectory(temp.resolve("audit"));
    Path fifo = audit.resolve("audit.jsonl");
    boolean made = new ProcessBuilder("mkfifo", fifo.toString()).inheritIO().start().waitFor() == 0;
    assumeTrue(made, "no mkfifo");
    var reading = new AtomicBoolean(true);
    try (var end = new RandomAccessFile(fifo.toFile(), "rw");
        var in = new FileInputStream(end.getFD());
        var api = RunningApi.start(temp, Map.of())) {
      String files = api.environment() + "/files/content";
      // A pipe holds 64 KiB; what is left takes the lines of a few requests.
      end.write("\n".repeat(62 << 10).getBytes(StandardCharsets.US_ASCII));
      String path = "p".repeat(200) + "/" + "q".repeat(200);
      String body = "{\"path\":\"" + path + "\",\"content\":\"x\"}";
      await()
          .atMost(SOON)
          .pollInterval(Duration.ofMillis(1))
          .until(
              () -> {
                HttpResponse<String> response = api.call("alice", "PUT", files, body);
                if (response.statusCode() == 200) {
                  return false;
                }
                assertThat(response.statusCode()).as(response.body()).isEqualTo(503);
                assertThat(response.body()).contains("audit_unavailable");
                return true;
              });

      long began = System.nanoTime();
      HttpResponse<String> refused =
          api.call("alice", "PUT", files, "{\"path\":\"never\",\"content\":\"x\"}");
      HttpResponse<String> read = api.call("alice", "GET", files + "?path=" + path, "");
      Duration both = Duration.ofNanos(System.nanoTime() - began);

      assertThat(refused.statusCode()).isEqualTo(503);
      assertThat(RunningApi.json(refused).path("code").asText()).isEqualTo("audit_unavailable");
      assertThat(refused.headers().firstValue("Retry-After")).isPresent();
      assertThat(read.statusCode()).isEqualTo(200);
      assertThat(both).isLessThan(Duration.ofSeconds(4));
      assertThat(api.call("alice", "GET", files + "?path=never", "").statusCode()).isEqualTo(404);

      // Not in the common pool, which the HTTP client needs.
      Thread drain = Thread.ofPlatform().daemon().start(() -> drain(in, reading));

      await().atMost(SOON).until(() -> api.call("alice", "PUT", files, body).statusCode() == 200);
      reading.set(false);
      // Wakes the reader, which then sees that it is over.
      end.write('\n');
      assertThat(drain.join(SOON)).isTrue();
    }
  }

  private static void drain(FileInputStream in, AtomicBoolean reading) {
    try {
      byte[] block = new byte[8192];
      while (reading.get() && in.read(block) > 0) {}
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
