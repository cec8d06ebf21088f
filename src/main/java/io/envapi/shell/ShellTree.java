package io.envapi.shell;

import io.envapi.linux.Signal;
import io.envapi.process.ProcFs;
import io.envapi.process.ProcessIdentity;
import io.envapi.sandbox.Started;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The processes of a shell, of which the shell itself and what wraps it are left alone. */
record ShellTree(Started started) {

  /** Everything below the shell. */
  List<ProcessIdentity> below() {
    return started.members().members().stream().filter(p -> !isShell(p) && !isWrapper(p)).toList();
  }

  private boolean isShell(ProcessIdentity process) {
    return process.pid() == started.shell().pid();
  }

  /** Whether it is the program that confines the shell and waits for its end. */
  boolean isWrapper(ProcessIdentity process) {
    return process.pid() == started.process().pid() && !isShell(process);
  }

  /** Signals everything below the shell; how many processes got it. */
  int signal(Signal signal) {
    return (int) below().stream().filter(p -> p.signal(signal)).count();
  }

  /**
   * Kills what the running command started and leaves what earlier ones left in the background, and
   * what that starts.
   *
   * @param since when the command began, in ticks since boot
   */
  void killCommand(long since) {
    // A control group may list a number twice, cgroups(7).
    Map<Integer, ProcessIdentity> below =
        below().stream()
            .collect(
                Collectors.toMap(ProcessIdentity::pid, Function.identity(), (_, later) -> later));
    below.values().stream()
        .filter(process -> !isOfEarlier(process, below, since))
        .forEach(process -> process.signal(Signal.KILL));
  }

  private static boolean isOfEarlier(
      ProcessIdentity process, Map<Integer, ProcessIdentity> below, long since) {
    Optional<ProcessIdentity> at = Optional.of(process);
    while (at.isPresent() && at.get().startTicks() >= since) {
      at = ProcFs.stat(at.get().pid()).map(stat -> below.get(stat.ppid()));
    }
    return at.isPresent();
  }
}
