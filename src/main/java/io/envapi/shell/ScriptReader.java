package io.envapi.shell;

import io.envapi.process.ProcFs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Tells from {@code /proc/<pid>/syscall} whether a shell is blocked reading its script. */
final class ScriptReader {

  /** The number of read(2): 0 on x86-64, 63 where the generic table holds (aarch64). */
  private static final long READ = System.getProperty("os.arch").equals("aarch64") ? 63 : 0;

  private ScriptReader() {}

  /**
   * @param pipe the script's pipe as a link in {@code /proc/<pid>/fd} shows it
   */
  static boolean isReading(int pid, String pipe) {
    return ProcFs.syscall(pid)
        .filter(call -> call.number() == READ)
        .filter(call -> linksTo(pid, call.argument(), pipe))
        .isPresent();
  }

  private static boolean linksTo(int pid, long descriptor, String pipe) {
    try {
      Path link = Path.of("/proc/" + pid + "/fd/" + descriptor);
      return Files.readSymbolicLink(link).toString().equals(pipe);
    } catch (IOException e) {
      return false;
    }
  }
}
