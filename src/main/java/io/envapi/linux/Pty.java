package io.envapi.linux;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A pseudo-terminal (pty(7)).
 *
 * @param master the service's end, non-blocking; reading it answers {@code EIO} while no process
 *     has the slave open any more
 * @param slave the path of the other end
 */
public record Pty(FileDescriptor master, Path slave) implements AutoCloseable {

  // <asm-generic/ioctls.h>
  private static final long TIOCSWINSZ = 0x5414;
  private static final long TIOCSPTLCK = 0x4004_5431L;
  private static final long TIOCGPTN = 0x8004_5430L;
  private static final long TIOCGPTPEER = 0x5441;

  // struct termios of the C library, <bits/termios-struct.h>
  static final long TERMIOS_SIZE = 60;
  static final long C_OFLAG = 4;
  static final long C_LFLAG = 12;
  private static final long C_CC = 17;
  static final long WINSIZE_SIZE = 8;

  private static final int OPOST = 1;
  private static final int ONLCR = 4;
  private static final int ISIG = 1;
  private static final int VINTR = 0;
  private static final int ECHO = 8;
  private static final int TCSANOW = 0;
  private static final int TTY_MODE = 0620;

  // int tcgetattr(int fd, struct termios *t); int tcsetattr(int fd, int action, const struct
  // termios *t);
  private static final MethodHandle TCGETATTR =
      LibC.downcall("tcgetattr", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS));
  private static final MethodHandle TCSETATTR =
      LibC.downcall("tcsetattr", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS));
  // int fchown(int fd, uid_t owner, gid_t group); int fchmod(int fd, mode_t mode);
  private static final MethodHandle FCHOWN =
      LibC.downcall("fchown", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT));
  private static final MethodHandle FCHMOD =
      LibC.downcall("fchmod", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT));

  /**
   * A new, unlocked one.
   *
   * @param ptmx {@code /dev/ptmx}, whose slaves are in {@code /dev/pts}, or the {@code ptmx} inside
   *     the mount point of a devpts, whose slaves are beside it
   */
  public static Pty open(Path ptmx) {
    FileDescriptor master = Fcntl.open(ptmx, Fcntl.O_RDWR | Fcntl.O_NOCTTY | Fcntl.O_NONBLOCK);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment value = arena.allocate(JAVA_INT);
      Fcntl.ioctl("ioctl(TIOCSPTLCK)", master, TIOCSPTLCK, value);
      Fcntl.ioctl("ioctl(TIOCGPTN)", master, TIOCGPTN, value);
      Path directory =
          ptmx.equals(Path.of("/dev/ptmx")) ? Path.of("/dev/pts") : ptmx.resolveSibling("");
      return new Pty(master, directory.resolve(Integer.toString(value.get(JAVA_INT, 0))));
    } catch (RuntimeException e) {
      master.close();
      throw e;
    }
  }

  /** Tells the terminal its size in characters; its foreground processes get {@code SIGWINCH}. */
  public void setSize(int rows, int columns) {
    setSize(master, rows, columns);
  }

  public static void setSize(FileDescriptor master, int rows, int columns) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment size = arena.allocate(WINSIZE_SIZE, 2);
      size.setAtIndex(JAVA_SHORT, 0, (short) rows);
      size.setAtIndex(JAVA_SHORT, 1, (short) columns);
      Fcntl.ioctl("ioctl(TIOCSWINSZ)", master, TIOCSWINSZ, size);
    }
  }

  /**
   * Sets whether input comes back as output. Either way {@code \n} is written as {@code \r\n}, and
   * the interrupt characters raise signals.
   */
  public void setEcho(boolean echo) {
    int fd = master.number();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment termios = arena.allocate(2 * TERMIOS_SIZE, 4);
      LibC.call("tcgetattr", e -> (int) TCGETATTR.invokeExact(e, fd, termios));
      int local = termios.get(JAVA_INT, C_LFLAG) | ISIG;
      termios.set(JAVA_INT, C_LFLAG, echo ? local | ECHO : local & ~ECHO);
      termios.set(JAVA_INT, C_OFLAG, termios.get(JAVA_INT, C_OFLAG) | OPOST | ONLCR);
      LibC.call("tcsetattr", e -> (int) TCSETATTR.invokeExact(e, fd, TCSANOW, termios));
    }
  }

  /**
   * The byte that makes the terminal interrupt its foreground processes, Ctrl-C by default; empty
   * while it is a byte like others (termios(3)), or when the terminal is gone.
   */
  public static Optional<Byte> interruptCharacter(FileDescriptor master) {
    try (Arena arena = Arena.ofConfined()) {
      int fd = master.number();
      MemorySegment termios = arena.allocate(2 * TERMIOS_SIZE, 4);
      LibC.call("tcgetattr", e -> (int) TCGETATTR.invokeExact(e, fd, termios));
      byte character = termios.get(JAVA_BYTE, C_CC + VINTR);
      boolean raises = (termios.get(JAVA_INT, C_LFLAG) & ISIG) != 0 && character != 0;
      return raises ? Optional.of(character) : Optional.empty();
    } catch (LinuxException _) {
      return Optional.empty();
    }
  }

  /** Gives the slave to a user, as grantpt(3) does, through the master and so without its path. */
  public void giveTo(int uid, int gid) {
    try (FileDescriptor peer = openSlave()) {
      int fd = peer.number();
      LibC.call("fchown", e -> (int) FCHOWN.invokeExact(e, fd, uid, gid));
      LibC.call("fchmod", e -> (int) FCHMOD.invokeExact(e, fd, TTY_MODE));
    }
  }

  /**
   * The slave, opened through the master whatever its path leads to (since Linux 4.13). While it is
   * open, reading the master does not end.
   */
  public FileDescriptor openSlave() {
    return new FileDescriptor(
        Fcntl.ioctl(
            "ioctl(TIOCGPTPEER)",
            master,
            TIOCGPTPEER,
            (long) (Fcntl.O_RDWR | Fcntl.O_NOCTTY | Fcntl.O_CLOEXEC)));
  }

  @Override
  public void close() {
    master.close();
  }
}
