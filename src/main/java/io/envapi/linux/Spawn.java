package io.envapi.linux;

import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * A process to be started: exactly these arguments, variables and descriptors, nothing inherited.
 *
 * <p>It leads a session of its own, with default signal dispositions and no signal blocked.
 *
 * @param argv the program, an absolute path, and its arguments
 * @param environment its variables
 * @param directory where it starts
 * @param descriptors its descriptor numbers and what each of them is; the service's stay its own
 * @param terminal the terminal that becomes its controlling one
 */
public record Spawn(
    List<String> argv,
    Map<String, String> environment,
    Directory directory,
    Map<Integer, FileDescriptor> descriptors,
    Optional<ControllingTerminal> terminal) {

  /** A working directory. */
  public sealed interface Directory {
    record Open(FileDescriptor descriptor) implements Directory {}

    record Named(Path path) implements Directory {}
  }

  /**
   * A terminal to be opened by the process itself.
   *
   * @param slave its path, absolute
   * @param numbers the process's descriptors that are open on it
   */
  public record ControllingTerminal(Path slave, Set<Integer> numbers) {
    public ControllingTerminal {
      numbers = Set.copyOf(numbers);
    }
  }

  public Spawn {
    argv = List.copyOf(argv);
    environment = Collections.unmodifiableMap(new LinkedHashMap<>(environment));
    descriptors = Map.copyOf(descriptors);
    if (argv.isEmpty() || !argv.getFirst().startsWith("/")) {
      throw new IllegalArgumentException("the program must be an absolute path");
    }
    for (String argument : argv) {
      refuse(argument, '\0');
    }
    environment.forEach(
        (name, value) -> {
          refuse(name, '\0');
          refuse(name, '=');
          refuse(value, '\0');
        });
    for (int number : numbers(descriptors, terminal)) {
      if (number < 0) {
        throw new IllegalArgumentException("descriptor " + number);
      }
    }
    if (terminal.isPresent()
        && terminal.get().numbers().stream().anyMatch(descriptors::containsKey)) {
      throw new IllegalArgumentException("a descriptor is both given and on the terminal");
    }
  }

  /** Started in {@code /}, without variables or descriptors, until told otherwise. */
  public static Spawn of(List<String> argv) {
    return new Spawn(argv, Map.of(), new Directory.Named(Path.of("/")), Map.of(), Optional.empty());
  }

  public Spawn environment(Map<String, String> variables) {
    return new Spawn(argv, variables, directory, descriptors, terminal);
  }

  public Spawn in(FileDescriptor open) {
    return new Spawn(argv, environment, new Directory.Open(open), descriptors, terminal);
  }

  public Spawn in(Path path) {
    return new Spawn(argv, environment, new Directory.Named(path), descriptors, terminal);
  }

  public Spawn descriptors(Map<Integer, FileDescriptor> given) {
    return new Spawn(argv, environment, directory, given, terminal);
  }

  public Spawn terminal(Path slave, Set<Integer> numbers) {
    return new Spawn(
        argv,
        environment,
        directory,
        descriptors,
        Optional.of(new ControllingTerminal(slave, numbers)));
  }

  /** Every descriptor number the process will have open. */
  NavigableSet<Integer> numbers() {
    return numbers(descriptors, terminal);
  }

  private static NavigableSet<Integer> numbers(
      Map<Integer, FileDescriptor> descriptors, Optional<ControllingTerminal> terminal) {
    NavigableSet<Integer> numbers = new TreeSet<>(descriptors.keySet());
    terminal.ifPresent(t -> numbers.addAll(t.numbers()));
    return numbers;
  }

  private static void refuse(String text, char forbidden) {
    if (text.indexOf(forbidden) >= 0) {
      throw new IllegalArgumentException("NUL or = where none can be");
    }
  }
}
