package io.envapi.sandbox;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Optional;

/**
 * The system call filter of sandboxed processes, as instructions for {@code seccomp(2)}.
 *
 * <p>It lists what ordinary programs never need and what has opened kernels before: mounting,
 * namespaces, keyrings, io_uring, bpf and so on. A filter follows no pointer, so {@code clone3},
 * whose flags lie in memory, answers {@code ENOSYS}: the C library then uses {@code clone}, whose
 * flags are checked.
 *
 * <p>Arguments are compared on their low 32 bits: the kernel itself cuts them, and a comparison of
 * all 64 can be evaded with high bits set.
 */
final class Seccomp {

  /** A machine the filter is known for. */
  private enum Machine {
    // <linux/audit.h>: the machine's number, 64 bit, little endian
    X86_64(0xC000_003E, 56, 16, 41, 101, 135, 29, 64),
    AARCH64(0xC000_00B7, 220, 29, 198, 117, 92, 194, 190);

    private final int audit;
    private final int clone;
    private final int ioctl;
    private final int socket;
    private final int ptrace;
    private final int personality;
    private final int shmget;
    private final int semget;

    Machine(
        int audit,
        int clone,
        int ioctl,
        int socket,
        int ptrace,
        int personality,
        int shmget,
        int semget) {
      this.audit = audit;
      this.clone = clone;
      this.ioctl = ioctl;
      this.socket = socket;
      this.ptrace = ptrace;
      this.personality = personality;
      this.shmget = shmget;
      this.semget = semget;
    }

    int number(Call call) {
      return this == X86_64 ? call.x86 : call.arm;
    }
  }

  /**
   * @param x86 its number in {@code asm/unistd_64.h}
   * @param arm its number in {@code asm-generic/unistd.h}; -1 where it does not exist
   */
  private record Call(String name, int x86, int arm) {
    static Call both(String name, int number) {
      return new Call(name, number, number);
    }
  }

  private static final List<Call> FORBIDDEN =
      List.of(
          new Call("acct", 163, 89),
          new Call("add_key", 248, 217),
          new Call("request_key", 249, 218),
          new Call("keyctl", 250, 219),
          new Call("bpf", 321, 280),
          new Call("perf_event_open", 298, 241),
          new Call("userfaultfd", 323, 282),
          new Call("kexec_load", 246, 104),
          new Call("kexec_file_load", 320, 294),
          new Call("init_module", 175, 105),
          new Call("finit_module", 313, 273),
          new Call("delete_module", 176, 106),
          new Call("iopl", 172, -1),
          new Call("ioperm", 173, -1),
          new Call("swapon", 167, 224),
          new Call("swapoff", 168, 225),
          new Call("reboot", 169, 142),
          new Call("sethostname", 170, 161),
          new Call("setdomainname", 171, 162),
          new Call("syslog", 103, 116),
          new Call("quotactl", 179, 60),
          Call.both("quotactl_fd", 443),
          new Call("mount", 165, 40),
          new Call("umount2", 166, 39),
          new Call("pivot_root", 155, 41),
          new Call("chroot", 161, 51),
          new Call("unshare", 272, 97),
          new Call("process_vm_readv", 310, 270),
          new Call("process_vm_writev", 311, 271),
          new Call("kcmp", 312, 272),
          Call.both("pidfd_getfd", 438),
          new Call("open_by_handle_at", 304, 265),
          new Call("name_to_handle_at", 303, 264),
          new Call("lookup_dcookie", 212, 18),
          new Call("move_pages", 279, 239),
          new Call("migrate_pages", 256, 238),
          new Call("mbind", 237, 235),
          new Call("set_mempolicy", 238, 237),
          Call.both("set_mempolicy_home_node", 450),
          new Call("vhangup", 153, 58),
          new Call("settimeofday", 164, 170),
          new Call("clock_settime", 227, 112),
          new Call("clock_adjtime", 305, 266),
          new Call("adjtimex", 159, 171),
          new Call("nfsservctl", 180, 42),
          new Call("uselib", 134, -1),
          new Call("ustat", 136, -1),
          new Call("sysfs", 139, -1),
          new Call("fanotify_init", 300, 262),
          new Call("modify_ldt", 154, -1),
          new Call("vmsplice", 278, 75),
          Call.both("io_uring_setup", 425),
          Call.both("io_uring_enter", 426),
          Call.both("io_uring_register", 427));

  private static final Call SETNS = new Call("setns", 308, 268);

  /** Calls whose callers fall back when the kernel seems not to know them. */
  private static final List<Call> UNKNOWN =
      List.of(
          Call.both("clone3", 435),
          Call.both("open_tree", 428),
          Call.both("move_mount", 429),
          Call.both("fsopen", 430),
          Call.both("fsconfig", 431),
          Call.both("fsmount", 432),
          Call.both("fspick", 433),
          Call.both("mount_setattr", 442),
          Call.both("memfd_secret", 447),
          Call.both("process_mrelease", 448),
          Call.both("process_madvise", 440),
          Call.both("statmount", 457),
          Call.both("listmount", 458),
          Call.both("open_tree_attr", 467));

  /**
   * What System V keeps outlives its processes and whoever pays for their memory. In an IPC
   * namespace it goes with that; in the host's it would stay.
   */
  private static final List<Call> SYSTEM_V =
      List.of(
          new Call("shmget", 29, 194), new Call("semget", 64, 190), new Call("msgget", 68, 186));

  // <linux/bpf_common.h>
  private static final int LOAD = 0x20;
  private static final int JUMP = 0x05;
  private static final int JUMP_IF_EQUAL = 0x15;
  private static final int JUMP_IF_GREATER_OR_EQUAL = 0x35;
  private static final int JUMP_IF_ANY_BIT = 0x45;
  private static final int RETURN = 0x06;

  // struct seccomp_data
  private static final int NUMBER = 0;
  private static final int ARCHITECTURE = 4;
  private static final int ARGUMENTS = 16;

  // <linux/seccomp.h>
  private static final int KILL_PROCESS = 0x8000_0000;
  private static final int ALLOW = 0x7FFF_0000;
  private static final int ERRNO = 0x0005_0000;
  private static final int EPERM = ERRNO | 1;
  private static final int ENOSYS = ERRNO | 38;
  private static final int ENOSPC = ERRNO | 28;
  private static final int EAFNOSUPPORT = ERRNO | 97;

  /** System call numbers of the x32 ABI, which would reach the same calls past a 64-bit list. */
  private static final int X32_BIT = 0x4000_0000;

  /** Every {@code CLONE_NEW*} that {@code clone} takes. */
  private static final int NEW_NAMESPACE = 0x7E02_0000;

  private static final int TIOCSTI = 0x5412;
  private static final int TIOCLINUX = 0x541C;

  /**
   * The most bytes of a System V shared memory segment, of which a namespace has 4,096. What needs
   * more has {@code /dev/shm}; a database server uses a few bytes to lock its files.
   */
  private static final int SEGMENT_BYTES = 128 * 1024;

  /** The most semaphores in a System V set, of which a namespace has 32,000. */
  private static final int SEMAPHORES = 64;

  /** {@code AF_UNIX}, {@code AF_INET}, {@code AF_INET6}, {@code AF_NETLINK}. */
  private static final List<Integer> FAMILIES = List.of(1, 2, 10, 16);

  private final ByteBuffer code = ByteBuffer.allocate(8 * 512).order(ByteOrder.LITTLE_ENDIAN);

  private Seccomp() {}

  /** Where the processes of a filter live. */
  enum Place {
    /** Started inside namespaces of their own. */
    INSIDE(false, false),
    /**
     * Joining such by {@code nsenter}. Without a capability, which no process inside has, {@code
     * setns} leads nowhere.
     */
    JOINING(true, false),
    /** In the namespaces of the host. */
    HOST(false, true),
    /** In those of the host but for the mounts, which they join. */
    HOST_JOINING(true, true);

    private final boolean joins;
    private final boolean sharesIpc;

    Place(boolean joins, boolean sharesIpc) {
      this.joins = joins;
      this.sharesIpc = sharesIpc;
    }
  }

  /** Empty for a machine that is not known. */
  static Optional<byte[]> filter(Place place) {
    return filter(System.getProperty("os.arch", ""), place);
  }

  static Optional<byte[]> filter(String osArch, Place place) {
    return switch (osArch) {
      case "amd64", "x86_64" -> Optional.of(new Seccomp().assemble(Machine.X86_64, place));
      case "aarch64", "arm64" -> Optional.of(new Seccomp().assemble(Machine.AARCH64, place));
      default -> Optional.empty();
    };
  }

  private byte[] assemble(Machine machine, Place place) {
    emit(LOAD, 0, 0, ARCHITECTURE);
    emit(JUMP_IF_EQUAL, 1, 0, machine.audit);
    emit(RETURN, 0, 0, KILL_PROCESS);
    emit(LOAD, 0, 0, NUMBER);
    if (machine == Machine.X86_64) {
      emit(JUMP_IF_GREATER_OR_EQUAL, 0, 1, X32_BIT);
      emit(RETURN, 0, 0, ENOSYS);
    }
    deny(machine, FORBIDDEN, EPERM);
    deny(machine, place.joins ? List.of() : List.of(SETNS), EPERM);
    deny(machine, UNKNOWN, ENOSYS);
    deny(machine, place.sharesIpc ? SYSTEM_V : List.of(), ENOSYS);
    onArgument(machine.clone, 0, JUMP_IF_ANY_BIT, List.of(NEW_NAMESPACE), EPERM);
    onArgument(machine.ioctl, 1, JUMP_IF_EQUAL, List.of(TIOCSTI, TIOCLINUX), EPERM);
    // Process 1 keeps the sandbox: stopped under a tracer it would hang whoever waits for it.
    onArgument(machine.ptrace, 1, JUMP_IF_EQUAL, List.of(1), EPERM);
    onlyArgument(machine.personality, List.of(0, -1), EPERM);
    onlyArgument(machine.socket, FAMILIES, EAFNOSUPPORT);
    atMost(machine.shmget, SEGMENT_BYTES, ENOSPC);
    atMost(machine.semget, SEMAPHORES, ENOSPC);
    emit(RETURN, 0, 0, ALLOW);
    byte[] assembled = new byte[code.position()];
    code.flip().get(assembled);
    return assembled;
  }

  private void deny(Machine machine, List<Call> calls, int answer) {
    for (Call call : calls) {
      if (machine.number(call) >= 0) {
        emit(JUMP_IF_EQUAL, 0, 1, machine.number(call));
        emit(RETURN, 0, 0, answer);
      }
    }
  }

  /** Refuses {@code call} when the argument passes one of the tests. */
  private void onArgument(int call, int argument, int test, List<Integer> values, int answer) {
    int tests = values.size();
    emit(JUMP_IF_EQUAL, 0, tests + 4, call);
    emit(LOAD, 0, 0, ARGUMENTS + 8 * argument);
    for (int i = 0; i < tests; i++) {
      emit(test, tests - i + 1, 0, values.get(i));
    }
    emit(LOAD, 0, 0, NUMBER);
    emit(JUMP, 0, 0, 1);
    emit(RETURN, 0, 0, answer);
  }

  /** Refuses {@code call} unless its first argument is one of these. */
  private void onlyArgument(int call, List<Integer> values, int answer) {
    int tests = values.size();
    emit(JUMP_IF_EQUAL, 0, tests + 3, call);
    emit(LOAD, 0, 0, ARGUMENTS);
    for (int i = 0; i < tests; i++) {
      emit(JUMP_IF_EQUAL, tests - i, 0, values.get(i));
    }
    emit(RETURN, 0, 0, answer);
    emit(LOAD, 0, 0, NUMBER);
  }

  /** Refuses {@code call} when its second argument, of 64 bits, is larger. */
  private void atMost(int call, int most, int answer) {
    int low = ARGUMENTS + 8;
    int high = low + 4;
    emit(JUMP_IF_EQUAL, 0, 6, call);
    emit(LOAD, 0, 0, high);
    emit(JUMP_IF_EQUAL, 0, 2, 0);
    emit(LOAD, 0, 0, low);
    emit(JUMP_IF_GREATER_OR_EQUAL, 0, 1, most + 1);
    emit(RETURN, 0, 0, answer);
    emit(LOAD, 0, 0, NUMBER);
  }

  private void emit(int operation, int ifTrue, int ifFalse, int value) {
    code.putShort((short) operation).put((byte) ifTrue).put((byte) ifFalse).putInt(value);
  }
}
