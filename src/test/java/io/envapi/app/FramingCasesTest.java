package io.envapi.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.envapi.id.EnvironmentId;
import io.envapi.id.ShellId;
import io.envapi.shell.CommandRecord.State;
import io.envapi.shell.CommandResult;
import io.envapi.shell.ShellView;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Commands that hide, imitate or break the end of a command, each in a shell of its own: what it
 * reports, and what an {@code echo alive} after it does.
 */
class FramingCasesTest {

  private static TestService service;
  private static EnvironmentId environment;

  /**
   * @param status the exit code; -1 for none
   * @param output of the command; {@code null}-free: "*" where it does not matter
   * @param usable whether {@code echo alive} prints {@code alive} and exits with 0 afterwards
   */
  record Case(String command, State state, int status, String output, Next next) {

    @Override
    public String toString() {
      return command.replace("\n", "\\n");
    }
  }

  /** What a command after it does. */
  enum Next {
    ALIVE,
    SILENT,
    FAILS,
    DEAD,
    UNKNOWN
  }

  private static Case exits(String command, int status, String output) {
    return new Case(command, State.EXITED, status, output, Next.ALIVE);
  }

  private static Case exits(String command, int status, String output, Next next) {
    return new Case(command, State.EXITED, status, output, next);
  }

  private static Case dies(String command, int status) {
    return new Case(command, State.SHELL_DIED, status, "*", Next.DEAD);
  }

  static Stream<Case> cases() {
    return Stream.of(
        exits("true", 0, ""),
        exits("set -x", 0, "*", Next.FAILS),
        exits("set -v", 0, "*", Next.FAILS),
        exits("PS4='$(cat /proc/self/cmdline)'; set -x; set +x", 0, "*"),
        exits("trap 'echo SEEN' DEBUG; trap - DEBUG", 0, "*"),
        exits("trap 'echo ERR' ERR; false", 1, "ERR\n"),
        dies("shopt -s extdebug; trap false DEBUG", -1),
        exits("printf() { echo LEAK \"$@\"; }", 0, ""),
        exits("eval() { :; }", 0, ""),
        exits("exit() { :; }; exit 3", 0, ""),
        dies("builtin() { :; }; printf() { :; }", -1),
        exits("shopt -s expand_aliases; alias printf='echo LEAK'; alias builtin=echo", 0, ""),
        dies("enable -n printf", -1),
        exits("exec >/dev/null", 0, "", Next.SILENT),
        exits("exec 1>&-", 0, "", Next.FAILS),
        exits("exec 1>&- 2>&-", 0, "", Next.FAILS),
        exits("exec 8>&-", 0, ""),
        exits("exec 8>/dev/null", 0, ""),
        exits("exec 0</dev/null", 0, ""),
        dies("kill -9 $$", -1),
        dies("exit 3", 3),
        dies("exit 256", 0),
        exits("return 5", 2, "*"),
        dies("set -e; false", 1),
        exits("set -e", 0, ""),
        dies("set -u; echo $NOPE", 1),
        dies("set -n", -1),
        dies("set -r", -1),
        exits("set -o posix", 0, ""),
        exits("echo 'abc", 2, "*"),
        exits("echo \"abc", 2, "*"),
        exits("cat <<EOF\nabc", 0, "*"),
        exits("( echo hi", 2, "*"),
        // Bash 5.2 overruns a buffer of its parser here (multibyte locale), and may abort later.
        exits("$(", 2, "*", Next.UNKNOWN),
        exits("true &&", 2, "*"),
        exits("if true", 2, "*"),
        dies("trap 'echo bye' EXIT; exit 4", 4),
        exits("ulimit -f 0", 0, ""),
        exits("PATH=", 0, ""),
        exits("IFS=0123456789", 0, ""),
        exits("echo a\necho b\nfalse", 1, "a\nb\n"),
        exits("cat <<'E'\nx\n\ty\nE", 0, "x\n\ty\n"),
        exits("cat <<-E\n\tx\n\tE", 0, "x\n"),
        exits("readonly PS4", 0, ""),
        exits("f(){ return 7; }; f", 7, ""),
        exits("sleep 100 & echo bg", 0, "bg\n"),
        exits("BASH_ENV=/nope PROMPT_COMMAND='echo pc'", 0, ""),
        exits("echo a\\\n b", 0, "a b\n"),
        exits("printf 'a\\0b\\377'; printf '\\r\\n'", 0, "a\0b\ufffd\r\n"),
        exits("echo 'a\r'", 0, "a\r\n"),
        exits("! true", 1, ""),
        exits("(exit 137)", 137, ""),
        exits("bash -c 'kill -SEGV $$'", 139, "*"),
        dies("exec true", 0),
        dies("exec sh -c 'exit 9'", 9));
  }

  @BeforeAll
  static void start(@TempDir Path root) throws Exception {
    service = TestService.start(root, Map.of("ENVAPI_MAX_SHELLS_PER_ENVIRONMENT", "1000"));
    environment = service.environment();
  }

  @AfterAll
  static void stop() throws Exception {
    service.close();
  }

  @ParameterizedTest
  @MethodSource("cases")
  void endIsTold(Case given) {
    ShellId shell = service.open(environment, false).id();
    CommandResult result = service.run(shell, given.command());
    assertThat(result.command().state()).isEqualTo(given.state());
    assertThat(result.command().exitCode().orElse(-1)).isEqualTo(given.status());
    if (!given.output().equals("*")) {
      assertThat(TestService.text(result)).isEqualTo(given.output());
    }
    if (given.next() == Next.DEAD) {
      assertThat(service.shell(shell).state()).isEqualTo(ShellView.State.DEAD);
      assertThat(service.refusal(shell, "echo alive"))
          .isEqualTo(new io.envapi.failure.Failure.ShellNotRunning());
      return;
    }
    if (given.next() == Next.UNKNOWN) {
      return;
    }
    CommandResult next = service.run(shell, "echo alive");
    assertThat(next.command().state()).isEqualTo(State.EXITED);
    switch (given.next()) {
      case ALIVE -> assertThat(TestService.text(next)).endsWith("alive\n");
      case SILENT -> assertThat(TestService.text(next)).isEmpty();
      case FAILS, DEAD, UNKNOWN -> {}
    }
  }

  @Test
  void statusOfTheCommandBeforeIsSeen() {
    ShellId shell = service.open(environment, false).id();
    service.run(shell, "(exit 7)");
    assertThat(TestService.text(service.run(shell, "echo $?; set -e"))).isEqualTo("7\n");
    assertThat(TestService.text(service.run(shell, "echo alive"))).isEqualTo("alive\n");
  }

  @Test
  void megabyteCommandRuns() {
    ShellId shell = service.open(environment, false).id();
    CommandResult result = service.run(shell, "v='" + "x".repeat(1_000_000) + "'; echo ${#v}");
    assertThat(TestService.text(result)).isEqualTo("1000000\n");
  }

  @Test
  void shellThatStopsItselfEndsByItsDeadline() {
    ShellId shell = service.open(environment, false).id();
    var reply =
        service.exec(shell, "kill -STOP $$", Duration.ofSeconds(10), java.util.Optional.of(300L));
    assertThat(reply)
        .isInstanceOfSatisfying(
            io.envapi.shell.Shell.Executed.class,
            ran -> assertThat(ran.result().command().state()).isEqualTo(State.TIMED_OUT));
    assertThat(service.shell(shell).state()).isEqualTo(ShellView.State.DEAD);
  }
}
