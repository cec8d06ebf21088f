package io.envapi.audit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.envapi.id.AccountId;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A disk that stalls or is full holds nobody up, and nothing more is begun until it is back. */
class AuditFaultTest {

  private static final AccountId ALICE = new AccountId("alice");
  private static final Duration SOON = Duration.ofSeconds(20);

  @TempDir private Path directory;

  @Test
  void aStalledDiskTakesNoPlacesAndLosesNothing() throws Exception {
    Path fifo = directory.resolve("audit.jsonl");
    assumeTrue(run("mkfifo", fifo.toString()), "no mkfifo");
    try (var reader = new RandomAccessFile(fifo.toFile(), "rw");
        var log = AuditLog.open(directory, sizes(1 << 20, 2, 10_000, Long.MAX_VALUE))) {
      // A pipe holds 64 KiB; nobody reads it yet.
      List<CompletableFuture<Void>> writes = new ArrayList<>();
      for (int i = 0; i < 2000; i++) {
        writes.add(place(log).record(List.of(event(i))));
      }
      assertThat(writes.getFirst()).succeedsWithin(SOON);
      assertThat(writes.getLast()).isNotDone();
      await().atMost(SOON).until(() -> log.reserve() instanceof AuditLog.Unavailable);
      assertThat(CompletableFuture.supplyAsync(log::reserve))
          .succeedsWithin(SOON)
          .isEqualTo(new AuditLog.Unavailable(false));

      CompletableFuture<Integer> lines = CompletableFuture.supplyAsync(() -> lines(reader, 2000));

      assertThat(writes.getLast()).succeedsWithin(SOON);
      assertThat(lines).succeedsWithin(SOON).isEqualTo(2000);
      assertThat(log.reserve()).isInstanceOf(AuditLog.Place.class);
    }
  }

  private static int lines(RandomAccessFile file, int wanted) {
    try (var in = new FileInputStream(file.getFD())) {
      int found = 0;
      byte[] block = new byte[8192];
      while (found < wanted) {
        int read = in.read(block);
        for (int i = 0; i < read; i++) {
          found += block[i] == '\n' ? 1 : 0;
        }
      }
      return found;
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  @Test
  void aFullDiskIsToldAndEveryLineIsWrittenOnceThereIsRoom() throws Exception {
    Path small = Files.createDirectory(directory.resolve("small"));
    assumeTrue(
        run("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", small.toString()),
        "mounting a tmpfs needs CAP_SYS_ADMIN");
    try (var log = AuditLog.open(small, sizes(1 << 20, 2, 100, Long.MAX_VALUE))) {
      place(log).record(List.of(event(0))).join();
      Path filler = small.resolve("filler");
      fill(filler);
      List<CompletableFuture<Void>> writes = new ArrayList<>();
      await()
          .atMost(SOON)
          .until(
              () -> {
                if (log.reserve() instanceof AuditLog.Place place) {
                  writes.add(place.record(List.of(event(writes.size() + 1))));
                  return false;
                }
                return true;
              });
      assertThat(log.reserve()).isEqualTo(new AuditLog.Unavailable(true));
      assertThat(writes.getLast()).isNotDone();

      Files.delete(filler);

      assertThat(writes.getLast()).succeedsWithin(SOON);
      await().atMost(SOON).until(() -> log.reserve() instanceof AuditLog.Place);
      List<AuditEvent> events = log.search(AuditFilter.newest(10_000)).events();
      assertThat(events)
          .extracting(event -> event.members().get("n").intValue())
          .containsExactlyElementsOf(
              java.util.stream.IntStream.rangeClosed(0, writes.size()).boxed().toList());
    } finally {
      run("umount", "--lazy", small.toString());
    }
  }

  @Test
  void aDirectoryThatCannotBeListedEndsNothing() throws Exception {
    Path real = Files.createDirectory(directory.resolve("real"));
    Path shown = Files.createSymbolicLink(directory.resolve("shown"), real);
    Process parent = new ProcessBuilder("sh", "-c", "sleep 0 & echo $!; exec sleep 1000").start();
    try (var output = parent.inputReader();
        var log = AuditLog.open(shown, sizes(1, 100, 100, Long.MAX_VALUE))) {
      // Of a process that has ended, and that nobody has waited for.
      Path unlistable = Path.of("/proc", output.readLine(), "net");
      await()
          .atMost(SOON)
          .until(() -> parent.toHandle().children().allMatch(AuditFaultTest::ended));
      assumeTrue(cannotBeListed(unlistable), "this kernel lists it");
      place(log).record(List.of(event(0))).join();
      lead(shown, unlistable);

      CompletableFuture<Void> second = place(log).record(List.of(event(1)));

      await().atMost(SOON).until(() -> log.reserve() instanceof AuditLog.Unavailable);
      lead(shown, real);
      assertThat(second).succeedsWithin(SOON);
      await().atMost(SOON).until(() -> log.reserve() instanceof AuditLog.Place);
    } finally {
      parent.destroyForcibly();
    }
  }

  private static boolean ended(ProcessHandle process) {
    try {
      return Files.readString(Path.of("/proc/" + process.pid() + "/stat")).contains(") Z ");
    } catch (IOException e) {
      return false;
    }
  }

  private static void lead(Path link, Path target) throws IOException {
    Path made = Files.createSymbolicLink(link.resolveSibling("link"), target);
    Files.move(made, link, StandardCopyOption.ATOMIC_MOVE);
  }

  private static boolean cannotBeListed(Path path) throws IOException {
    try (var entries = Files.list(path)) {
      return entries.count() < 0;
    } catch (UncheckedIOException e) {
      return true;
    }
  }

  @Test
  void thereAreOnlySoManyPlaces() throws IOException {
    try (var log = AuditLog.open(directory, sizes(1 << 20, 2, 2, Long.MAX_VALUE))) {
      AuditLog.Place one = place(log);
      AuditLog.Place other = place(log);
      assertThat(log.reserve()).isEqualTo(new AuditLog.Unavailable(false));

      one.release();
      one.release();
      place(log);
      assertThat(log.reserve()).isEqualTo(new AuditLog.Unavailable(false));

      other.record(List.of(event(1), event(2))).join();
      await().atMost(SOON).until(() -> log.reserve() instanceof AuditLog.Place);
    }
  }

  @Test
  void aSearchReadsNoMoreThanItMayAndSaysSo() throws IOException {
    try (var log = AuditLog.open(directory, sizes(10_000, 100, 100_000, 50_000))) {
      for (int i = 0; i < 2000; i++) {
        place(log).record(List.of(event(i))).join();
      }

      AuditPage none = log.search(AuditFilter.newest(10).of(new AccountId("nobody")));
      AuditPage newest = log.search(AuditFilter.newest(10));

      assertThat(none.events()).isEmpty();
      assertThat(none.truncated()).isTrue();
      assertThat(newest.events()).hasSize(10);
      assertThat(newest.truncated()).isFalse();
    }
  }

  private static AuditSizes sizes(long fileBytes, int files, int places, long searched) {
    return new AuditSizes(
        fileBytes, files * fileBytes, Duration.ofDays(1), Long.MAX_VALUE, places, searched);
  }

  private static AuditLog.Place place(AuditLog log) {
    return (AuditLog.Place) log.reserve();
  }

  private static AuditEvent event(int number) {
    return AuditEvent.of("n", ALICE).with("n", number);
  }

  private static void fill(Path file) throws IOException {
    try (var out = Files.newOutputStream(file)) {
      while (true) {
        out.write(new byte[4096]);
      }
    } catch (IOException full) {
      assertThat(full).hasMessageContaining("No space left");
    }
  }

  private static boolean run(String... command) throws Exception {
    return new ProcessBuilder(command).inheritIO().start().waitFor() == 0;
  }
}
