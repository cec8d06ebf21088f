package io.envapi.shell;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** All command logs of an environment. */
public final class CommandLogs {

  private static final Logger LOG = LoggerFactory.getLogger(CommandLogs.class);

  private record Log(Path file, long bytes, long modified) {}

  private CommandLogs() {}

  /**
   * Deletes the oldest logs until the rest holds {@code most} bytes at the most.
   *
   * @return how many were deleted
   */
  public static int prune(Path directory, long most) {
    int deleted = 0;
    try (Stream<Path> files = Files.list(directory)) {
      List<Log> newestFirst =
          files
              .map(CommandLogs::log)
              .sorted(Comparator.comparingLong(Log::modified).reversed())
              .toList();
      long kept = 0;
      for (Log log : newestFirst) {
        kept += log.bytes();
        if (kept > most) {
          Files.deleteIfExists(log.file());
          deleted++;
        }
      }
    } catch (IOException e) {
      LOG.warn("command logs could not be pruned: {}", e.getClass().getSimpleName());
    }
    return deleted;
  }

  private static Log log(Path file) {
    try {
      return new Log(file, Files.size(file), Files.getLastModifiedTime(file).toMillis());
    } catch (IOException e) {
      return new Log(file, 0, 0);
    }
  }
}
