package io.envapi.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class SeccompTest {

  private static final int EPERM = 1;
  private static final int ENOSYS = 38;
  private static final int ENOSPC = 28;
  private static final int EAFNOSUPPORT = 97;

  /** A call as Python makes it, and the error it must give; 0 for none. */
  private record Attempt(String name, String arguments, int errno) {}

  private static Stream<Attempt> forbidden() {
    return Stream.of(
        new Attempt("add_key", "248, b'user', b'a', b'b', 1, -3", EPERM),
        new Attempt("keyctl", "250, 0, -3, 0, 0, 0", EPERM),
        new Attempt("bpf", "321, 0, 0, 0", EPERM),
        new Attempt("perf_event_open", "298, 0, 0, 0, 0, 0", EPERM),
        new Attempt("userfaultfd", "323, 0", EPERM),
        new Attempt("kexec_load", "246, 0, 0, 0, 0", EPERM),
        new Attempt("mount", "165, b'x', b'/tmp', b'tmpfs', 0, 0", EPERM),
        new Attempt("unshare", "272, 0x10000000", EPERM),
        new Attempt("chroot", "161, b'/tmp'", EPERM),
        new Attempt("open_by_handle_at", "304, 0, 0, 0", EPERM),
        new Attempt("io_uring_setup", "425, 1, 0", EPERM),
        new Attempt("process_vm_readv", "310, 1, 0, 0, 0, 0, 0", EPERM),
        new Attempt("pidfd_getfd", "438, 0, 0, 0", EPERM),
        new Attempt("ptrace of process 1", "101, 16, 1, 0, 0", EPERM),
        new Attempt("ptrace of process 1, high bits", "101, 16, 0x700000001, 0, 0", EPERM),
        new Attempt("personality", "135, 0x0040000", EPERM),
        new Attempt("personality, asked", "135, 0xffffffff", 0),
        new Attempt("clone of a user namespace", "56, 0x10000011, 0, 0, 0, 0", EPERM),
        new Attempt("clone of a mount namespace", "56, 0x20011, 0, 0, 0, 0", EPERM),
        new Attempt("clone3", "435, 0, 0", ENOSYS),
        new Attempt("fsopen", "430, b'tmpfs', 0", ENOSYS),
        new Attempt("TIOCSTI", "16, 0, 0x5412, b'x'", EPERM),
        new Attempt("TIOCSTI, high bits", "16, 0, 0x100005412, b'x'", EPERM),
        new Attempt("TIOCLINUX", "16, 0, 0x541c, b'x'", EPERM),
        new Attempt("AF_PACKET", "41, 17, 3, 0", EAFNOSUPPORT),
        new Attempt("AF_VSOCK", "41, 40, 1, 0", EAFNOSUPPORT),
        new Attempt("AF_ALG", "41, 38, 5, 0", EAFNOSUPPORT),
        new Attempt("x32 getpid", "0x40000027", ENOSYS));
  }

  @ParameterizedTest
  @MethodSource("io.envapi.sandbox.Tiers#all")
  void refusesWhatItShould(SandboxTier tier) {
    Tiers.assumeInstalled("python3");
    Assumptions.assumeTrue(
        System.getProperty("os.arch").equals("amd64"), "the numbers below are of x86-64");
    String calls =
        forbidden()
            .map(a -> "(\"%s\", (%s,))".formatted(a.name(), a.arguments()))
            .collect(Collectors.joining(",\n"));
    String script =
        """
        cat >try.py <<'EOF'
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        for name, arguments in [%s]:
            ctypes.set_errno(0)
            wide = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
            result = libc.syscall(*wide)
            print(name, ctypes.get_errno() if result == -1 else 0)
        EOF
        python3 try.py
        """
            .formatted(calls);
    String expected =
        forbidden().map(a -> a.name() + " " + a.errno()).collect(Collectors.joining("\n"));
    try (TestEnvironment environment = Tiers.environment(tier)) {
      assertThat(environment.output(script).strip()).isEqualTo(expected);
    }
  }

  @ParameterizedTest
  @MethodSource("io.envapi.sandbox.Tiers#all")
  void systemVKeepsLittleAndNothingOnTheHost(SandboxTier tier) {
    Tiers.assumeInstalled("python3");
    String script =
        """
        cat >try.py <<'EOF'
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        c = ctypes.c_size_t
        for made in [lambda: libc.shmget(0, c(131072), 0o600), lambda: libc.shmget(0, c(131073), 0o600),
                     lambda: libc.shmget(0, c(1 << 32), 0o600), lambda: libc.semget(0, 64, 0o600),
                     lambda: libc.semget(0, 65, 0o600), lambda: libc.msgget(0, 0o600)]:
            ctypes.set_errno(0)
            print(ctypes.get_errno() if made() == -1 else 0)
        EOF
        python3 try.py
        """;
    String kept = "0\n%1$d\n%1$d\n0\n%1$d\n0\n".formatted(ENOSPC);
    try (TestEnvironment environment = Tiers.environment(tier)) {
      assertThat(environment.output(script))
          .isEqualTo(tier == SandboxTier.NAMESPACE ? kept : (ENOSYS + "\n").repeat(6));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "python3 -c 'import threading; t=threading.Thread(target=print, args=(1,)); t.start(); t.join()'",
        "node -e 'console.log(1)'",
        "gcc -x c -o hello - <<<'int main(void) { return 0; }' && ./hello && echo 1",
        "java -Xshare:off -XshowSettings:none -version 2>/dev/null && echo 1",
        "strace -f -o /dev/null true && echo 1",
        "perl -e 'print \"1\\n\"'",
        "make --version >/dev/null && echo 1",
      })
  void ordinaryProgramsWork(String command) {
    Tiers.assumeInstalled(command.substring(0, command.indexOf(' ')));
    try (TestEnvironment environment = Tiers.environment(SandboxTier.NAMESPACE)) {
      assertThat(environment.output(command)).isEqualTo("1\n");
    }
  }

  @Test
  void namespacesCannotBeNestedOrJoined() {
    try (TestEnvironment environment = Tiers.environment(SandboxTier.NAMESPACE)) {
      String script =
          """
          unshare -Ur true 2>/dev/null && echo user
          unshare -m true 2>/dev/null && echo mount
          unshare -n true 2>/dev/null && echo net
          for n in user mount net pid; do
            nsenter -t 1 --$n true 2>/dev/null && echo "joins $n"
          done
          echo end
          """;
      assertThat(environment.output(script)).isEqualTo("end\n");
    }
  }

  @Test
  void isMadeForTheMachinesItKnows() {
    byte[] x86 = Seccomp.filter("amd64", Seccomp.Place.INSIDE).orElseThrow();
    byte[] arm = Seccomp.filter("aarch64", Seccomp.Place.INSIDE).orElseThrow();
    // <linux/audit.h>: AUDIT_ARCH_X86_64 and AUDIT_ARCH_AARCH64, in the second instruction.
    assertThat(java.util.Arrays.copyOfRange(x86, 12, 16)).containsExactly(0x3E, 0, 0, 0xC0);
    assertThat(java.util.Arrays.copyOfRange(arm, 12, 16)).containsExactly(0xB7, 0, 0, 0xC0);
    assertThat(x86.length % 8).isZero();
    assertThat(Seccomp.filter("amd64", Seccomp.Place.JOINING).orElseThrow())
        .hasSize(x86.length - 16);
    assertThat(Seccomp.filter("riscv64", Seccomp.Place.INSIDE)).isEmpty();
  }
}
