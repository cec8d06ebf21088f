package io.envapi.audit;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.envapi.id.AccountId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is kept, for how long, and that nobody decides it for others. */
class AuditRetentionTest {

  private static final AccountId ALICE = new AccountId("alice");
  private static final AccountId MALLORY = new AccountId("mallory");
  private static final long FILE = 4_000;
  private static final int FILES = 8;

  @TempDir private Path directory;

  @Test
  void oneAccountCannotMakeTheLinesOfOthersGo() throws IOException {
    try (var log = open(Duration.ofDays(1), 2_000)) {
      record(log, ALICE, 1, 6);
      // More than ten times what is kept of everybody together.
      record(log, MALLORY, 1, 8_000);
      record(log, ALICE, 6, 11);
      record(log, MALLORY, 8_000, 8_010);

      assertThat(numbers(log, ALICE)).containsExactlyElementsOf(range(1, 11));
      List<Integer> flood = numbers(log, MALLORY);
      assertThat(flood).as("the first ones, and the last ones").startsWith(1, 2, 3, 4, 5);
      assertThat(flood).endsWith(8_005, 8_006, 8_007, 8_008, 8_009);
      assertThat(flood).as("in their order").isSorted();
      assertThat(bytes()).isLessThan(2 * FILES * FILE);
    }
    assertThat(Files.readString(directory.resolve("audit.jsonl"))).contains("alice");
    assertThat(Files.readString(directory.resolve("audit-busy.jsonl"))).doesNotContain("alice");
  }

  @Test
  void whatIsFoundComesInItsOrderFromBothSeries() throws IOException {
    try (var log = open(Duration.ofDays(1), 2_000)) {
      for (int i = 1; i < 200; i++) {
        record(log, i % 2 == 0 ? ALICE : MALLORY, i, i + 1);
      }

      List<AuditEvent> newest = log.search(AuditFilter.newest(20)).events();

      assertThat(newest).hasSize(20);
      assertThat(newest).extracting(AuditEvent::at).isSorted();
      assertThat(Files.size(directory.resolve("audit-busy.jsonl"))).isPositive();
    }
  }

  @Test
  void whatIsOldGoesAndWhatIsNotStays() throws IOException {
    try (var log = open(Duration.ofDays(30), Long.MAX_VALUE)) {
      record(log, ALICE, 1, 200);
    }
    Path oldest = directory.resolve("audit-00000001.jsonl");
    Path second = directory.resolve("audit-00000002.jsonl");
    Files.setLastModifiedTime(oldest, FileTime.from(Instant.now().minus(Duration.ofDays(31))));
    Files.setLastModifiedTime(second, FileTime.from(Instant.now().minus(Duration.ofDays(29))));

    try (var log = open(Duration.ofDays(30), Long.MAX_VALUE)) {
      assertThat(oldest).doesNotExist();
      assertThat(second).exists();
      assertThat(numbers(log, ALICE)).doesNotContain(1).contains(199);
    }
  }

  /** Numbers are not given twice, whatever went, and a crash between two steps loses nothing. */
  @Test
  void aStartGoesOnWhereTheLastOneEnded() throws IOException {
    int next = 1;
    for (int start = 0; start < 4; start++) {
      try (var log = open(Duration.ofDays(1), Long.MAX_VALUE)) {
        record(log, ALICE, next, next + 70);
        next += 70;
        assertThat(numbers(log, ALICE)).containsExactlyElementsOf(range(1, next));
      }
      // As if it had ended after the full file was set aside, and in the middle of a line.
      Files.move(
          directory.resolve("audit.jsonl"),
          directory.resolve("audit-%08d.jsonl".formatted(100 * (start + 1))));
      Files.writeString(
          directory.resolve("audit-busy.jsonl"),
          "{\"ts\":1,\"act",
          StandardOpenOption.APPEND,
          StandardOpenOption.CREATE);
    }
  }

  @Test
  void whatAnAccountMayAddComesBackInADay() {
    var now = new AtomicLong();
    var allowances = new Allowances(1_000, now::get);
    assertThat(allowances.take(MALLORY, 900)).isTrue();
    assertThat(allowances.take(MALLORY, 200)).isFalse();
    assertThat(allowances.take(ALICE, 1_000)).as("another's").isTrue();

    now.addAndGet(TimeUnit.HOURS.toNanos(6));
    assertThat(allowances.take(MALLORY, 351)).isFalse();
    assertThat(allowances.take(MALLORY, 349)).isTrue();

    now.addAndGet(TimeUnit.DAYS.toNanos(10));
    assertThat(allowances.take(MALLORY, 1_001)).isFalse();
    assertThat(allowances.take(MALLORY, 1_000)).isTrue();
  }

  @Test
  void noTextMakesALineLong() throws IOException {
    var event =
        AuditEvent.of("file.write", ALICE)
            .with("path", "\u0001".repeat(4096))
            .with("changes", IntStream.range(0, 100).mapToObj(i -> "x".repeat(5000)).toList());

    assertThat(new ObjectMapper().writeValueAsBytes(event.json()).length).isLessThan(9_000);
    assertThat(event.members().get("path").textValue()).hasSize(512);
    assertThat(event.members().get("changes")).hasSize(10);
  }

  private AuditLog open(Duration retention, long allowance) throws IOException {
    return AuditLog.open(
        directory,
        new AuditSizes(FILE, FILES * FILE, retention, allowance, 100_000, Long.MAX_VALUE));
  }

  private static void record(AuditLog log, AccountId account, int from, int to) {
    for (int number = from; number < to; number++) {
      ((AuditLog.Place) log.reserve())
          .record(List.of(AuditEvent.of("n", account).with("n", number)))
          .join();
    }
  }

  private static List<Integer> numbers(AuditLog log, AccountId account) throws IOException {
    return log.search(AuditFilter.newest(1_000_000).of(account)).events().stream()
        .map(event -> event.members().get("n").intValue())
        .toList();
  }

  private static List<Integer> range(int from, int to) {
    return IntStream.range(from, to).boxed().toList();
  }

  private long bytes() throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.mapToLong(file -> file.toFile().length()).sum();
    }
  }
}
