package io.envapi.audit;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.TextNode;
import io.envapi.id.AccountId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AuditLogTest {

  private static final AccountId ALICE = new AccountId("alice");
  private static final AccountId BOB = new AccountId("bob");

  private static final AuditSettings SETTINGS = new AuditSettings(Duration.ofDays(90), 4L << 30);

  @TempDir private Path directory;

  @Test
  void whatWasRecordedIsReadBackOldestFirst() throws IOException {
    try (var log = AuditLog.open(directory, SETTINGS)) {
      record(log, AuditEvent.of("file.delete", ALICE).with("path", "a\nb").with("recursive", true));
      record(log, AuditEvent.of("shell.stdin", ALICE).with("bytes", 13));

      List<AuditEvent> events = log.search(AuditFilter.newest(10)).events();

      assertThat(events)
          .extracting(AuditEvent::action)
          .containsExactly("file.delete", "shell.stdin");
      assertThat(events.getFirst().members().toString())
          .isEqualTo("{\"path\":\"a\\nb\",\"recursive\":true}");
      assertThat(events.getLast().account()).isEqualTo(ALICE);
    }
  }

  @Test
  void anEventIsOneLineWithTheTimeInSeconds() throws IOException {
    var event =
        new AuditEvent(1_767_225_600_000L, "environment.reset", ALICE, mapper().createObjectNode())
            .with("environment_id", "env_000000000001");
    try (var log = AuditLog.open(directory, SETTINGS)) {
      record(log, event);
      assertThat(log.search(AuditFilter.newest(1)).events()).containsExactly(event);
    }

    assertThat(Files.readString(directory.resolve("audit.jsonl")))
        .isEqualTo(
            "{\"ts\":1767225600.000,\"action\":\"environment.reset\",\"account_id\":\"alice\","
                + "\"environment_id\":\"env_000000000001\"}\n");
  }

  @Test
  void theNewestOfOneAccountAreFoundBehindOthers() throws IOException {
    try (var log = AuditLog.open(directory, SETTINGS)) {
      record(log, ALICE, 1, 2, 3);
      record(log, BOB, 4, 5, 6, 7);

      assertThat(numbers(log, 2, Optional.of(ALICE))).containsExactly(2, 3);
      assertThat(numbers(log, 3, Optional.empty())).containsExactly(5, 6, 7);
      assertThat(numbers(log, 9, Optional.of(new AccountId("carol")))).isEmpty();
    }
  }

  @Test
  void aFullFileIsSetAsideAndTheOldestGoes() throws IOException {
    int line =
        "{\"ts\":1767225600.000,\"action\":\"n\",\"account_id\":\"alice\",\"n\":10}\n".length();
    try (var log = small(3L * line, 3)) {
      record(log, ALICE, IntStream.rangeClosed(10, 29).toArray());

      assertThat(numbers(log, 100, Optional.of(ALICE)))
          .containsExactly(22, 23, 24, 25, 26, 27, 28, 29);
    }
    assertThat(directory.resolve("audit-00000004.jsonl")).doesNotExist();
    assertThat(directory.resolve("audit-00000005.jsonl")).hasSize(3L * line);
    assertThat(directory.resolve("audit-00000006.jsonl")).exists();
  }

  @Test
  void aLineThatACrashCutOffIsSkippedAndHarmsNoOther() throws IOException {
    try (var log = AuditLog.open(directory, SETTINGS)) {
      record(log, ALICE, 1);
    }
    Files.writeString(
        directory.resolve("audit.jsonl"), "{\"ts\":1,\"act", StandardOpenOption.APPEND);

    try (var log = AuditLog.open(directory, SETTINGS)) {
      record(log, ALICE, 2);

      assertThat(numbers(log, 10, Optional.empty())).containsExactly(1, 2);
    }
  }

  @Test
  void whatIsNoEventIsSkipped() throws IOException {
    Files.writeString(
        directory.resolve("audit.jsonl"),
        "\n\nnull\n[]\n{}\n{\"ts\":\"x\",\"action\":\"a\",\"account_id\":\"alice\"}\n\u0000\u0000\n");
    try (var log = AuditLog.open(directory, SETTINGS)) {
      record(log, ALICE, 1);

      assertThat(numbers(log, 10, Optional.empty())).containsExactly(1);
    }
  }

  @Test
  void linesThatCrossTheBlocksOfTheReaderAreWhole() throws IOException {
    try (var log = AuditLog.open(directory, SETTINGS)) {
      String filler = "x".repeat(1021);
      for (int i = 0; i < 300; i++) {
        record(log, AuditEvent.of("n", ALICE).with("n", i).with("filler", new TextNode(filler)));
      }
      record(
          log,
          AuditEvent.of("n", ALICE)
              .with("n", 300)
              .with("filler", new TextNode("y".repeat(200_000))));

      assertThat(numbers(log, 1000, Optional.empty()))
          .containsExactlyElementsOf(IntStream.rangeClosed(0, 300).boxed().toList());
    }
  }

  @Test
  void eventsOfSeveralThreadsDoNotMix() throws IOException {
    try (var log = small(20_000, 1000)) {
      var writers =
          IntStream.range(0, 8)
              .mapToObj(
                  thread ->
                      CompletableFuture.runAsync(
                          () ->
                              record(
                                  log,
                                  new AccountId("account-" + thread),
                                  IntStream.range(0, 200).toArray())))
              .toList();
      writers.forEach(CompletableFuture::join);

      for (int thread = 0; thread < 8; thread++) {
        assertThat(numbers(log, 1000, Optional.of(new AccountId("account-" + thread))))
            .containsExactlyElementsOf(IntStream.range(0, 200).boxed().toList());
      }
    }
  }

  @Test
  void onlyItsOwnerMayReadIt() throws IOException {
    try (var log = AuditLog.open(directory.resolve("audit"), SETTINGS)) {
      record(log, ALICE, 1);
    }
    var file = directory.resolve("audit/audit.jsonl");
    assertThat(Files.getPosixFilePermissions(file)).hasSize(2);
    assertThat(Files.getPosixFilePermissions(file.getParent())).hasSize(3);
  }

  @Test
  void aCommandIsCutAfter512Characters() {
    String command = "\ud834\udd1e".repeat(600);

    AuditEvent event = AuditEvent.of("shell.exec", ALICE).with("command", command);

    assertThat(event.members().get("command").textValue()).isEqualTo("\ud834\udd1e".repeat(512));
  }

  private static void record(AuditLog log, AccountId account, int... numbers) {
    for (int number : numbers) {
      record(log, AuditEvent.of("n", account).with("n", number));
    }
  }

  private static void record(AuditLog log, AuditEvent event) {
    ((AuditLog.Place) log.reserve()).record(List.of(event)).join();
  }

  private AuditLog small(long fileBytes, int files) throws IOException {
    return AuditLog.open(
        directory,
        new AuditSizes(
            fileBytes,
            files * fileBytes,
            Duration.ofDays(1),
            Long.MAX_VALUE,
            100_000,
            Long.MAX_VALUE));
  }

  private static List<Integer> numbers(AuditLog log, int limit, Optional<AccountId> account)
      throws IOException {
    var numbers = new ArrayList<Integer>();
    AuditFilter filter = AuditFilter.newest(limit);
    for (AuditEvent event : log.search(account.map(filter::of).orElse(filter)).events()) {
      numbers.add(event.members().get("n").intValue());
    }
    return numbers;
  }

  private static ObjectMapper mapper() {
    return new ObjectMapper();
  }
}
