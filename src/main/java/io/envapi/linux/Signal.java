package io.envapi.linux;

import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A signal that can be sent, 1 to 64, numbered as on x86-64 and arm64 (signal(7)).
 *
 * @param number the kernel's number
 */
public record Signal(int number) {

  /** The names of 1 to 31, in order. */
  private static final List<String> NAMES =
      List.of(
          "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2",
          "PIPE", "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG",
          "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS");

  private static final int MAX = 64;
  private static final Map<String, Integer> NUMBERS = numbers();

  /** CHLD, CONT, STOP, TSTP, TTIN, TTOU, URG and WINCH. */
  private static final Set<Integer> SURVIVED = Set.of(17, 18, 19, 20, 21, 22, 23, 28);

  public static final Signal HUP = new Signal(1);
  public static final Signal INT = new Signal(2);
  public static final Signal QUIT = new Signal(3);
  public static final Signal KILL = new Signal(9);
  public static final Signal USR1 = new Signal(10);
  public static final Signal USR2 = new Signal(12);
  public static final Signal TERM = new Signal(15);
  public static final Signal CONT = new Signal(18);
  public static final Signal STOP = new Signal(19);
  public static final Signal WINCH = new Signal(28);

  /** The last real-time signal, which nothing sends by itself. */
  public static final Signal RTMAX = new Signal(MAX);

  /** The one before {@link #RTMAX}. */
  public static final Signal RTMAX_1 = new Signal(MAX - 1);

  public Signal {
    if (number < 1 || number > MAX) {
      throw new IllegalArgumentException("no signal " + number);
    }
  }

  /**
   * The signal a caller wrote as a number ({@code 15}) or a name in any case, with or without
   * {@code SIG} ({@code TERM}, {@code sigterm}); empty when there is none such.
   */
  public static Optional<Signal> parse(String text) {
    if (text.matches("[0-9]{1,3}")) {
      return of(Integer.parseInt(text));
    }
    String name = text.toUpperCase(Locale.ROOT);
    Integer number = NUMBERS.get(name.startsWith("SIG") ? name.substring(3) : name);
    return number == null ? Optional.empty() : Optional.of(new Signal(number));
  }

  public static Optional<Signal> of(int number) {
    return number < 1 || number > MAX ? Optional.empty() : Optional.of(new Signal(number));
  }

  /** Whether its default action ends a process; that of the others ignores, stops or continues. */
  public boolean endsByDefault() {
    return !SURVIVED.contains(number);
  }

  /** As {@code SIGTERM}, or {@code SIG40} for the real-time signals, which have no names. */
  public String name() {
    return "SIG" + (number <= NAMES.size() ? NAMES.get(number - 1) : number);
  }

  @Override
  public String toString() {
    return name();
  }

  private static Map<String, Integer> numbers() {
    Map<String, Integer> numbers = new HashMap<>();
    for (int i = 0; i < NAMES.size(); i++) {
      numbers.put(NAMES.get(i), i + 1);
    }
    numbers.put("IOT", 6);
    numbers.put("CLD", 17);
    numbers.put("POLL", 29);
    return Map.copyOf(numbers);
  }
}
