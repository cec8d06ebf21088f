package io.envapi.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.envapi.linux.Child;
import io.envapi.linux.ExitStatus;
import io.envapi.linux.Pipe;
import io.envapi.linux.Run;
import io.envapi.linux.Signal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AncestryMembershipTest {

  private final Pipe in = Pipe.open();
  private final List<Child> started = new ArrayList<>();

  @AfterEach
  void end() {
    for (Child child : started) {
      ProcessIdentity.of(child.pid()).ifPresent(root -> new AncestryMembership(root).killAll());
      child.signal(Signal.KILL);
      Run.exit(child);
    }
    in.close();
  }

  private Child start(String script) {
    try (Pipe out = Pipe.open()) {
      Child child =
          Run.SPAWNER.spawn(
              Run.bash(script + "\necho up; read -r x")
                  .descriptors(Map.of(0, in.read(), 1, out.write(), 2, out.write())));
      started.add(child);
      assertThat(Run.line(out.read())).isEqualTo("up");
      return child;
    }
  }

  private static AncestryMembership of(Child child) {
    return new AncestryMembership(ProcessIdentity.of(child.pid()).orElseThrow());
  }

  private static List<String> lines(Membership members) {
    return members.members().stream()
        .flatMap(m -> ProcFs.cmdline(m.pid()).stream())
        .filter(line -> line.startsWith("sleep"))
        .sorted()
        .toList();
  }

  @ParameterizedTest(name = "the kernel lists children: {0}")
  @ValueSource(booleans = {true, false})
  void hasDescendantsAndNobodyElse(boolean listed) {
    assumeTrue(!listed || ProcFs.listsChildren(), "needs CONFIG_PROC_CHILDREN");
    Child shell =
        start("(sleep 100 &); sleep 101 & setsid sleep 102 & bash -c 'sleep 103; true' &");
    Child other = start("sleep 104 &");
    var root = ProcessIdentity.of(shell.pid()).orElseThrow();
    int service = (int) ProcessHandle.current().pid();
    try (var members = new AncestryMembership(root, service, listed)) {
      await()
          .untilAsserted(
              () ->
                  assertThat(lines(members))
                      .containsExactly("sleep 100", "sleep 101", "sleep 102", "sleep 103"));
      assertThat(members.members()).contains(members.root());
      members.killAll();
      assertThat(members.members()).isEmpty();
      assertThat(Run.exit(shell)).isEqualTo(new ExitStatus.Signaled(9));
      assertThat(other.isAlive()).isTrue();
    }
    try (var others = of(other)) {
      await().untilAsserted(() -> assertThat(lines(others)).containsExactly("sleep 104"));
    }
  }

  /** Never seen below the shell: only its session tells. */
  @Test
  void anOrphanInTheSessionIsFound() {
    Child shell = start("(sleep 105 &)");
    try (var members = of(shell)) {
      await().untilAsserted(() -> assertThat(lines(members)).containsExactly("sleep 105"));
      members.killAll();
      assertThat(lines(members)).isEmpty();
    }
  }

  /** It leaves session and parent, but it was seen before. */
  @Test
  void anOrphanThatWasSeenBeforeIsFound() {
    Child shell = start("setsid bash -c 'sleep 106 & sleep 107; true' & middle=$!");
    try (var members = of(shell)) {
      await()
          .untilAsserted(
              () -> assertThat(lines(members)).containsExactly("sleep 106", "sleep 107"));
      List<ProcessIdentity> seen = members.members();
      ProcessIdentity parent =
          seen.stream()
              .filter(m -> ProcFs.cmdline(m.pid()).orElse("").contains("-c sleep 106"))
              .findAny()
              .orElseThrow();
      assertThat(parent.signal(Signal.KILL)).isTrue();
      int service = (int) ProcessHandle.current().pid();
      await()
          .until(
              () ->
                  seen.stream()
                          .flatMap(m -> ProcFs.stat(m.pid()).stream())
                          .filter(s -> s.comm().equals("sleep") && s.ppid() == service)
                          .count()
                      == 2);
      assertThat(lines(members)).containsExactly("sleep 106", "sleep 107");
      members.killAll();
      assertThat(lines(members)).isEmpty();
      assertThat(seen).noneMatch(ProcessIdentity::isAlive);
    }
  }

  @Test
  void membersOutliveTheShell() {
    Child shell = start("sleep 108 &");
    try (var members = of(shell)) {
      await().untilAsserted(() -> assertThat(lines(members)).containsExactly("sleep 108"));
      shell.signal(Signal.KILL);
      Run.exit(shell);
      assertThat(lines(members)).containsExactly("sleep 108");
      members.killAll();
      assertThat(members.members()).isEmpty();
    }
  }

  @Test
  void whatForksWhileItIsKilledIsKilledToo() {
    Child shell =
        start(
            "f() { for i in 1 2 3 4 5; do (trap '' TERM; while :; do sleep 0.01; done) & done; }; f");
    try (var members = of(shell)) {
      await().until(() -> members.members().size() > 5);
      members.killAll();
      assertThat(members.members()).isEmpty();
      assertThat(Run.exit(shell)).isEqualTo(new ExitStatus.Signaled(9));
    }
  }

  @Test
  void anotherProcessWithTheNumberOfTheShellIsNoMember() {
    Child shell = start("sleep 109 &");
    ProcessIdentity real = ProcessIdentity.of(shell.pid()).orElseThrow();
    var stale =
        new AncestryMembership(
            new ProcessIdentity(real.pid(), real.startTicks() - 1, real.bootId()));
    try (stale) {
      assertThat(stale.members()).isEmpty();
      stale.killAll();
      assertThat(real.isAlive()).isTrue();
    }
  }
}
