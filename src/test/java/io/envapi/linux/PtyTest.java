package io.envapi.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PtyTest {

  private final Pty pty = Pty.open(Path.of("/dev/ptmx"));

  @AfterEach
  void close() {
    pty.close();
  }

  private Child start(String script, FileDescriptor in) {
    return Run.SPAWNER.spawn(
        Run.bash(script).descriptors(Map.of(0, in)).terminal(pty.slave(), Set.of(1, 2, 8)));
  }

  /** Everything the terminal shows until its processes are gone. */
  private String output(Child child) {
    StringBuilder all = new StringBuilder();
    byte[] buffer = new byte[4096];
    await()
        .until(
            () -> {
              boolean ended = !child.isAlive();
              try {
                for (int n = pty.master().read(buffer, 0, buffer.length);
                    n > 0;
                    n = pty.master().read(buffer, 0, buffer.length)) {
                  all.append(new String(buffer, 0, n, StandardCharsets.UTF_8));
                }
              } catch (LinuxException e) {
                assertThat(e.errno()).isEqualTo(Errno.EIO);
              }
              return ended;
            });
    return all.toString();
  }

  private String run(String script) {
    try (Pipe in = Pipe.open()) {
      Child child = start(script, in.read());
      String output = output(child);
      assertThat(Run.exit(child)).isEqualTo(new ExitStatus.Exited(0));
      return output;
    }
  }

  @Test
  void isTheControllingTerminalOfTheProcess() {
    assertThat(
            run(
                "test -t 1 && test -t 2 && test -t 8 && ! test -t 0 && echo direct > /dev/tty"
                    + " && tty <&1"))
        .isEqualTo("direct\r\n" + pty.slave() + "\r\n");
  }

  @Test
  void hasTheSizeItWasTold() {
    pty.setSize(33, 111);
    assertThat(run("stty size <&1")).isEqualTo("33 111\r\n");
  }

  @Test
  void inputComesBackOnlyWhenEchoIsOn() {
    pty.setEcho(false);
    assertThat(echoed()).isEqualTo("got:abc\r\n");
  }

  @Test
  void echoIsOnAtFirst() {
    assertThat(echoed()).isEqualTo("abc\r\ngot:abc\r\n");
  }

  private String echoed() {
    try (Pipe in = Pipe.open();
        FileDescriptor held = pty.openSlave()) {
      assertThat(held.isOpen()).isTrue();
      pty.master().writeAll("abc\n".getBytes(StandardCharsets.US_ASCII));
      Child child = start("read -r line <&1; echo got:$line", in.read());
      return output(child);
    }
  }

  @Test
  void interruptCharactersRaiseSignals() {
    pty.setEcho(false);
    try (Pipe in = Pipe.open()) {
      Child child = start("trap 'echo caught; exit 0' INT; echo up; read -r x <&1", in.read());
      byte[] buffer = new byte[64];
      await().until(() -> pty.master().read(buffer, 0, 64) > 0);
      pty.master().writeAll(new byte[] {3});
      assertThat(output(child)).contains("caught\r\n");
    }
  }

  @Test
  void theSlaveCanBeGivenAway() throws Exception {
    assumeTrue(Credentials.current().isRoot(), "needs root to give a terminal away");
    pty.giveTo(61_234, 5);
    assertThat(Files.getAttribute(pty.slave(), "unix:uid")).isEqualTo(61_234);
    assertThat(Files.getAttribute(pty.slave(), "unix:mode")).isEqualTo(0020620);
    assertThat(run("echo usable")).isEqualTo("usable\r\n");
  }

  @Test
  void somethingThatIsNoTerminalIsRefused() {
    int before = Run.openDescriptors();
    assertThatThrownBy(() -> Pty.open(Path.of("/dev/null"))).isInstanceOf(LinuxException.class);
    assertThat(Run.openDescriptors()).isEqualTo(before);
  }

  @Test
  void theInterruptCharacterIsTheOneThatIsSet() {
    assertThat(Pty.interruptCharacter(pty.master())).contains((byte) 3);
    run("stty intr ^X < /dev/tty");
    assertThat(Pty.interruptCharacter(pty.master())).contains((byte) 0x18);
    run("stty -isig < /dev/tty");
    assertThat(Pty.interruptCharacter(pty.master())).isEmpty();
    pty.close();
    assertThat(Pty.interruptCharacter(pty.master())).isEmpty();
  }
}
