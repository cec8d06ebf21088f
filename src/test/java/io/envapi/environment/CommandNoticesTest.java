package io.envapi.environment;

import static org.assertj.core.api.Assertions.assertThat;

import io.envapi.account.EnvironmentSpec;
import io.envapi.account.EnvironmentSpec.LimitOverrides;
import io.envapi.id.AccountId;
import io.envapi.id.CommandId;
import io.envapi.id.EnvironmentId;
import io.envapi.id.ShellId;
import io.envapi.process.ProcessIdentity;
import io.envapi.shell.CommandRecord;
import io.envapi.shell.ShellEvent;
import io.envapi.shell.ShellIdentity;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class CommandNoticesTest {

  private static final ShellId SHELL = ShellId.of(new EnvironmentId("env_0123456789ab"), 1);

  private final CommandNotices notices = new CommandNotices();

  @Test
  void eachIsTakenOnce() {
    EnvironmentState.Present stored = stored(2);

    assertThat(notices.add(stored, finished(1))).isTrue();
    assertThat(notices.isEmpty()).isTrue();
    assertThat(notices.add(stored, started(2, "two"))).isTrue();
    assertThat(notices.add(stored, started(2, "two"))).isTrue();
    assertThat(notices.add(stored, finished(2))).isTrue();

    assertThat(told()).containsExactly("began 2", "ended 2");
    assertThat(notices.isEmpty()).isTrue();
  }

  @Test
  void whatWasNotHeardIsAskedAgain() {
    EnvironmentState.Present stored = stored(1);

    assertThat(notices.add(stored, started(2, "two"))).isFalse();
    assertThat(notices.isEmpty()).isTrue();

    notices.add(stored, SHELL, List.of(record(1, true), record(2, true), record(3, false)));
    assertThat(notices.add(stored, finished(3))).isTrue();
    assertThat(told()).containsExactly("ended 1", "began 2", "ended 2", "began 3", "ended 3");
  }

  @Test
  void aShellThatIsForgottenTellsNothing() {
    EnvironmentState.Present reset = present(List.of());

    assertThat(notices.add(reset, started(1, "one"))).isTrue();
    notices.add(reset, SHELL, List.of(record(1, true)));

    assertThat(notices.isEmpty()).isTrue();
  }

  @Test
  void aLongTextIsCutBetweenCharacters() {
    String text = "x".repeat(511) + "😀 and more";

    notices.add(stored(0), started(1, text));

    var started = (EnvironmentEvent.CommandStarted) notices.take().getFirst();
    assertThat(started.text()).isEqualTo("x".repeat(511));
    assertThat(started.whole()).isFalse();
  }

  private List<String> told() {
    return notices.take().stream()
        .map(
            event ->
                switch (event) {
                  case EnvironmentEvent.CommandStarted started ->
                      "began " + started.command().number();
                  case EnvironmentEvent.CommandFinished finished ->
                      "ended " + finished.command().number();
                  case EnvironmentEvent other -> other.toString();
                })
        .toList();
  }

  private static EnvironmentState.Present stored(int told) {
    var process = new ProcessIdentity(7, 1, "boot");
    var identity = new ShellIdentity(SHELL, process, process, 7, ".", false, 0);
    return present(List.of(new ShellRecord(identity, Optional.empty(), told)));
  }

  private static EnvironmentState.Present present(List<ShellRecord> shells) {
    var spec =
        new EnvironmentSpec("personal", "test", Map.of(), List.of(), true, LimitOverrides.NONE);
    return new EnvironmentState.Present(
        new AccountId("alice"),
        spec,
        1,
        0,
        0,
        Optional.empty(),
        shells,
        1,
        Optional.empty(),
        EnvironmentState.Emptying.NONE);
  }

  private static ShellEvent started(int number, String text) {
    return new ShellEvent.CommandStarted(
        CommandId.of(SHELL, number), text, 0, 0, Optional.empty(), List.of(), List.of());
  }

  private static ShellEvent finished(int number) {
    return new ShellEvent.CommandFinished(
        CommandId.of(SHELL, number),
        CommandRecord.State.EXITED,
        CommandRecord.Reason.EXITED,
        Optional.of(0),
        Optional.empty(),
        0,
        0,
        0,
        false);
  }

  private static CommandRecord record(int number, boolean ended) {
    return new CommandRecord(
        CommandId.of(SHELL, number),
        "true",
        ended ? CommandRecord.State.EXITED : CommandRecord.State.RUNNING,
        ended ? Optional.of(CommandRecord.Reason.EXITED) : Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        0,
        ended ? Optional.of(0L) : Optional.empty(),
        0,
        ended ? Optional.of(0L) : Optional.empty(),
        0,
        false,
        Optional.empty(),
        List.of(),
        List.of(),
        false);
  }
}
