package io.envapi.e2e;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A process as {@code /proc} shows it to the tests, read without the code under test.
 *
 * @param state one letter; {@code Z} for a zombie
 * @param arguments joined by spaces
 */
record ProcFsView(long pid, long parent, String state, int uid, String arguments) {

  static List<ProcFsView> all() throws IOException {
    try (Stream<Path> entries = Files.list(Path.of("/proc"))) {
      return entries
          .filter(p -> p.getFileName().toString().chars().allMatch(Character::isDigit))
          .flatMap(p -> read(p).stream())
          .toList();
    }
  }

  /** The living processes that were started with {@code argument}. */
  static List<ProcFsView> with(String argument) throws IOException {
    return all().stream()
        .filter(p -> !p.state().equals("Z"))
        .filter(p -> List.of(p.arguments().split(" ", -1)).contains(argument))
        .toList();
  }

  /** The living processes of the uids from {@code first} on. */
  static List<ProcFsView> ofUids(int first, int count) throws IOException {
    return all().stream()
        .filter(p -> !p.state().equals("Z"))
        .filter(p -> p.uid() >= first && p.uid() < first + count)
        .toList();
  }

  private static Optional<ProcFsView> read(Path process) {
    try {
      String stat = Files.readString(process.resolve("stat"), StandardCharsets.ISO_8859_1);
      String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
      String arguments =
          Files.readString(process.resolve("cmdline"), StandardCharsets.ISO_8859_1)
              .replace('\0', ' ')
              .strip();
      return Optional.of(
          new ProcFsView(
              Long.parseLong(process.getFileName().toString()),
              Long.parseLong(fields[1]),
              fields[0],
              (Integer) Files.getAttribute(process, "unix:uid"),
              arguments));
    } catch (IOException e) {
      return Optional.empty();
    }
  }
}
