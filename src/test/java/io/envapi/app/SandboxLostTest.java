package io.envapi.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.envapi.id.EnvironmentId;
import io.envapi.id.ShellId;
import io.envapi.linux.Signal;
import io.envapi.sandbox.SandboxTier;
import io.envapi.shell.CommandRecord;
import io.envapi.shell.Shell;
import io.envapi.shell.ShellView;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What callers see when the process that holds their sandbox is killed from outside. */
class SandboxLostTest {

  @Test
  void shellsSayThatTheirSandboxIsLostAndTheNextOneGetsAnother(@TempDir Path root)
      throws Exception {
    try (TestService service = TestService.start(root, Map.of())) {
      assumeTrue(
          service.sandbox().tier() == SandboxTier.NAMESPACE,
          "this host gives no namespace tier, and no other has a holder");
      EnvironmentId environment = service.environment();
      ShellId shell = service.open(environment, false).id();
      service.run(shell, "sleep 1000", Duration.ofMillis(1));
      assertThat(service.sandbox().holder(environment).orElseThrow().signal(Signal.KILL)).isTrue();

      await()
          .atMost(Duration.ofSeconds(10))
          .until(() -> service.shell(shell).state() == ShellView.State.DEAD);
      assertThat(service.shell(shell).deadReason()).contains("sandbox_lost");
      Shell.CommandsReply commands = service.ask(shell, Shell.ListCommands::new);
      assertThat(commands)
          .isInstanceOfSatisfying(
              Shell.Commands.class,
              all ->
                  assertThat(all.commands())
                      .singleElement()
                      .extracting(c -> c.reason().orElseThrow())
                      .isEqualTo(CommandRecord.Reason.SANDBOX_LOST));
      ShellId next = service.open(environment, false).id();
      assertThat(TestService.text(service.run(next, "echo alive"))).isEqualTo("alive\n");
    }
  }
}
