package io.envapi.e2e;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestInstanceFactoryContext;
import org.junit.jupiter.api.extension.TestInstancePreConstructCallback;

/**
 * One service for the tests of a class. It runs before each is made, whatever the test before did
 * to it, and each has an account of its own.
 */
final class SharedService
    implements BeforeAllCallback,
        TestInstancePreConstructCallback,
        AfterEachCallback,
        AfterAllCallback {

  private final Map<String, String> variables;
  private Path directory = Path.of("");
  private Optional<RunningService> service = Optional.empty();
  private Optional<Client> client = Optional.empty();
  private long number;

  /**
   * @param variables {@code ENVAPI_} variables
   */
  SharedService(Map<String, String> variables) {
    this.variables = variables;
  }

  RunningService service() {
    return service.orElseThrow();
  }

  /** Of the test's own account. */
  Client client() {
    return client.orElseThrow();
  }

  String account() {
    return "account-" + number;
  }

  /**
   * An argument that no other process on the host has. What has it when the test is over is killed.
   */
  String seconds() {
    return Long.toString(number);
  }

  /** The root is below it. */
  Path directory() {
    return directory;
  }

  @Override
  public void beforeAll(ExtensionContext context) throws Exception {
    directory = Files.createTempDirectory("shared-service");
    service = Optional.of(RunningService.start(directory, variables));
  }

  @Override
  public void preConstructTestInstance(TestInstanceFactoryContext factory, ExtensionContext context)
      throws Exception {
    service().ensureRunning();
    number = ThreadLocalRandom.current().nextLong(1_000_000, 1_000_000_000);
    client = Optional.of(service().as(account()));
  }

  @Override
  public void afterEach(ExtensionContext context) throws Exception {
    for (ProcFsView left : ProcFsView.with(seconds())) {
      ProcessHandle.of(left.pid()).ifPresent(ProcessHandle::destroyForcibly);
    }
  }

  @Override
  public void afterAll(ExtensionContext context) throws IOException {
    service().close();
    List<Path> all;
    try (Stream<Path> below = Files.walk(directory)) {
      all = below.sorted(Comparator.reverseOrder()).toList();
    }
    for (Path each : all) {
      Files.deleteIfExists(each);
    }
  }
}
