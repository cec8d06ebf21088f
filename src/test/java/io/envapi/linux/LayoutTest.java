package io.envapi.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Sizes and offsets, against what the C compiler says. */
class LayoutTest {

  private static final Path COMPILER = Path.of("/usr/bin/cc");

  private static final String PROGRAM =
      """
      #define _GNU_SOURCE
      #include <signal.h>
      #include <spawn.h>
      #include <stddef.h>
      #include <stdio.h>
      #include <linux/filter.h>
      #include <sys/epoll.h>
      #include <sys/ioctl.h>
      #include <sys/resource.h>
      #include <termios.h>
      #define S(t) printf("%s %zu\\n", #t, sizeof(t))
      #define O(t, f) printf("%s %zu\\n", #f, offsetof(t, f))
      int main(void) {
        S(siginfo_t); O(siginfo_t, si_code); O(siginfo_t, si_pid); O(siginfo_t, si_status);
        S(posix_spawnattr_t); S(posix_spawn_file_actions_t); S(sigset_t);
        S(struct epoll_event); O(struct epoll_event, data);
        S(struct sock_filter); S(struct sock_fprog); O(struct sock_fprog, filter);
        S(struct termios); O(struct termios, c_oflag); O(struct termios, c_lflag);
        S(struct winsize); S(struct rlimit);
        return 0;
      }
      """;

  @Test
  void areThoseOfTheHeaders(@TempDir Path directory) throws Exception {
    assumeTrue(Files.isExecutable(COMPILER), "needs a C compiler");
    Path source = Files.writeString(directory.resolve("layout.c"), PROGRAM);
    var compiled =
        Run.run(Run.SPAWNER, Run.bash("cc -o layout " + source + " && ./layout").in(directory));
    assertThat(compiled.status()).as(compiled.output()).isEqualTo(new ExitStatus.Exited(0));
    Map<String, Long> c = new HashMap<>();
    for (String line : compiled.output().lines().toList()) {
      int space = line.lastIndexOf(' ');
      c.put(line.substring(0, space), Long.valueOf(line.substring(space + 1)));
    }
    assertThat(c)
        .containsEntry("siginfo_t", Reaper.SIGINFO_SIZE)
        .containsEntry("si_code", Reaper.SI_CODE)
        .containsEntry("si_pid", Reaper.SI_PID)
        .containsEntry("si_status", Reaper.SI_STATUS)
        .containsEntry("struct epoll_event", Epoll.EVENT_SIZE)
        .containsEntry("data", Epoll.EVENT_DATA)
        .containsEntry("struct sock_filter", (long) Prctl.INSTRUCTION_SIZE)
        .containsEntry("struct sock_fprog", Prctl.SOCK_FPROG_SIZE)
        .containsEntry("filter", Prctl.SOCK_FPROG_FILTER)
        .containsEntry("struct termios", Pty.TERMIOS_SIZE)
        .containsEntry("c_oflag", Pty.C_OFLAG)
        .containsEntry("c_lflag", Pty.C_LFLAG)
        .containsEntry("struct winsize", Pty.WINSIZE_SIZE)
        .containsEntry("struct rlimit", Rlimits.RLIMIT_SIZE);
    assertThat(PosixSpawn.ATTR_ROOM).isGreaterThanOrEqualTo(c.get("posix_spawnattr_t"));
    assertThat(PosixSpawn.ACTIONS_ROOM).isGreaterThanOrEqualTo(c.get("posix_spawn_file_actions_t"));
    assertThat(PosixSpawn.SIGSET_ROOM).isGreaterThanOrEqualTo(c.get("sigset_t"));
  }
}
