package io.envapi.process;

import io.envapi.linux.Boot;
import io.envapi.linux.Signal;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * {@code /proc}, proc(5). A process that ends meanwhile makes an answer empty, never an exception.
 */
public final class ProcFs {

  private static final Path PROC = Path.of("/proc");

  /** A command line is shown up to here; its process decides how long it is. */
  private static final int CMDLINE_LIMIT = 4096;

  private static final int STAT_LIMIT = 4096;
  private static final int STATUS_LIMIT = 8192;
  private static final int CHILDREN_LIMIT = 16 << 20;

  /** The signals a thread blocks, ignores and catches, in this order, bit n-1 for signal n. */
  private static final Pattern MASKS =
      Pattern.compile("^Sig(?:Blk|Ign|Cgt):\\s*([0-9a-f]{16})$", Pattern.MULTILINE);

  private static final int MASK_COUNT = 3;

  /**
   * The part of {@code /proc/<pid>/stat} that is used here.
   *
   * @param comm the name of the program, at most 15 bytes, anything in them
   * @param state one letter, {@code Z} for a zombie
   * @param foreground the process group in the foreground of its terminal, -1 without one
   * @param userTicks CPU time spent in the program, in {@link Boot#ticksPerSecond}
   * @param systemTicks CPU time spent in the kernel, likewise
   * @param startTicks when it started, since boot, likewise
   */
  public record Stat(
      int pid,
      String comm,
      char state,
      int ppid,
      int pgid,
      int session,
      int foreground,
      long userTicks,
      long systemTicks,
      long startTicks,
      long rssPages) {

    /** Whether it has ended, though it may not have been waited for. */
    public boolean ended() {
      return state == 'Z' || state == 'X';
    }

    public boolean inForeground() {
      return pgid == foreground;
    }
  }

  /**
   * The system call a process is blocked in.
   *
   * @param number as of the process's architecture
   * @param argument the first argument
   */
  public record Syscall(long number, long argument) {}

  private ProcFs() {}

  public static Optional<Stat> stat(int pid) {
    return read(PROC.resolve(pid + "/stat"), STAT_LIMIT).flatMap(text -> parse(pid, text));
  }

  /** The arguments joined by spaces; {@code [name]} for a process that has none. */
  public static Optional<String> cmdline(int pid) {
    Optional<String> arguments =
        bytes(PROC.resolve(pid + "/cmdline"), CMDLINE_LIMIT)
            .map(b -> new String(b, StandardCharsets.UTF_8).replace('\0', ' ').stripTrailing());
    return arguments.flatMap(
        text ->
            text.isEmpty() ? stat(pid).map(stat -> "[" + stat.comm() + "]") : Optional.of(text));
  }

  /** Empty while it runs, or when this service may not look. */
  public static Optional<Syscall> syscall(int pid) {
    return read(PROC.resolve(pid + "/syscall"), STAT_LIMIT)
        .map(text -> text.strip().split(" ", -1))
        .filter(fields -> fields.length > 2)
        .map(
            fields ->
                new Syscall(
                    Long.parseLong(fields[0]), Long.parseUnsignedLong(fields[1].substring(2), 16)));
  }

  /** Whether a process neither catches nor ignores nor blocks a signal; false when it has ended. */
  public static boolean takesDefault(int pid, Signal signal) {
    return masks(pid).filter(masks -> masks.stream().noneMatch(m -> has(m, signal))).isPresent();
  }

  public static boolean catches(int pid, Signal signal) {
    return masks(pid).filter(masks -> has(masks.getLast(), signal)).isPresent();
  }

  private static Optional<List<Long>> masks(int pid) {
    return read(PROC.resolve(pid + "/status"), STATUS_LIMIT)
        .map(
            status ->
                MASKS
                    .matcher(status)
                    .results()
                    .map(mask -> Long.parseUnsignedLong(mask.group(1), 16))
                    .toList())
        .filter(masks -> masks.size() == MASK_COUNT);
  }

  private static boolean has(long mask, Signal signal) {
    return (mask >>> (signal.number() - 1) & 1) != 0;
  }

  /** Whether the kernel lists the children of a thread (CONFIG_PROC_CHILDREN). */
  public static boolean listsChildren() {
    return Files.exists(PROC.resolve("thread-self/children"));
  }

  /**
   * The children of every thread of {@code pid}, as the kernel lists them; it may miss new ones.
   */
  public static List<Integer> children(int pid) {
    List<Integer> children = new ArrayList<>();
    for (int thread : numbers(PROC.resolve(pid + "/task"))) {
      children.addAll(children(pid, thread));
    }
    return children;
  }

  /** As {@link #children(int)}, of one thread. */
  static List<Integer> children(int pid, int thread) {
    return read(PROC.resolve(pid + "/task/" + thread + "/children"), CHILDREN_LIMIT)
        .map(text -> text.strip())
        .filter(text -> !text.isEmpty())
        .map(text -> List.of(text.split(" ", -1)).stream().map(Integer::valueOf).toList())
        .orElse(List.of());
  }

  /** Every process there is. */
  public static List<Integer> pids() {
    return numbers(PROC);
  }

  /**
   * The {@link Stat#startTicks} of a process that starts at a time of day, no more than one less;
   * right while nobody sets the clock in between.
   *
   * @param epochMillis as {@link System#currentTimeMillis} gives it, past
   */
  public static long ticksAt(long epochMillis) {
    // Both readings are cut to the millisecond, so the difference may be one short.
    Duration since = Duration.ofMillis(System.currentTimeMillis() - epochMillis + 1);
    return ticks(Boot.uptime().minus(since));
  }

  private static long ticks(Duration sinceBoot) {
    return sinceBoot.dividedBy(Duration.ofSeconds(1).dividedBy(Boot.ticksPerSecond()));
  }

  /** The name of the program is in parentheses and may itself hold any of {@code ") "}. */
  static Optional<Stat> parse(int pid, String text) {
    int open = text.indexOf('(');
    int close = text.lastIndexOf(')');
    if (open < 0 || close < open) {
      return Optional.empty();
    }
    String[] fields = text.substring(close + 1).strip().split(" ", -1);
    if (fields.length < 22) {
      return Optional.empty();
    }
    // fields[0] is the third of proc(5), the state.
    return Optional.of(
        new Stat(
            pid,
            text.substring(open + 1, close),
            fields[0].charAt(0),
            Integer.parseInt(fields[1]),
            Integer.parseInt(fields[2]),
            Integer.parseInt(fields[3]),
            Integer.parseInt(fields[5]),
            Long.parseLong(fields[11]),
            Long.parseLong(fields[12]),
            Long.parseLong(fields[19]),
            Long.parseLong(fields[21])));
  }

  private static List<Integer> numbers(Path directory) {
    List<Integer> numbers = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory, "[0-9]*")) {
      for (Path entry : entries) {
        numbers.add(Integer.valueOf(entry.getFileName().toString()));
      }
    } catch (IOException | DirectoryIteratorException e) {
      return numbers;
    }
    return numbers;
  }

  private static Optional<String> read(Path path, int limit) {
    return bytes(path, limit).map(b -> new String(b, StandardCharsets.UTF_8));
  }

  private static Optional<byte[]> bytes(Path path, int limit) {
    try (InputStream in = Files.newInputStream(path)) {
      return Optional.of(in.readNBytes(limit));
    } catch (IOException e) {
      return Optional.empty();
    }
  }
}
