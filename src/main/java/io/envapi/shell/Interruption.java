package io.envapi.shell;

import io.envapi.id.CommandId;
import io.envapi.linux.Pty;
import io.envapi.linux.Signal;
import io.envapi.process.ProcFs;
import io.envapi.process.ProcessIdentity;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Sees to it that a signal ends the running command also where bash lets it slip.
 *
 * <p>Between fork and exec a child still has the handlers of its shell's traps. What such a handler
 * takes there is gone: the program then starts as if nothing had been sent, and the trap of the
 * shell waits for its end. So what was being started is signalled again; not what runs already: one
 * that takes the signal may well give its handler up, to end in peace.
 *
 * <p>And a shell that takes Ctrl-C goes on with the rest of its line, which it may have come to at
 * that very moment. So the rest is interrupted too, for a while.
 */
final class Interruption {

  private static final Duration FIRST_LOOK = Duration.ofMillis(20);
  private static final Duration LOOK = Duration.ofMillis(50);
  private static final int LOOKS = 20;

  /** A shell starts few programs at a time; those in the background may be many. */
  private static final int NEWEST = 32;

  /** What the actor tells itself of a signal that was sent to its command. */
  sealed interface Step extends ShellActor.Internal {

    CommandId command();

    int look();
  }

  /**
   * @param starting may not have taken it
   */
  private record Signalled(
      CommandId command, Signal signal, List<ProcessIdentity> starting, int look) implements Step {}

  /**
   * Likewise, by the terminal.
   *
   * @param between whether the shell ran no program then, and so may just have been to start one
   */
  private record Interrupted(
      CommandId command, List<ProcessIdentity> starting, boolean between, int look)
      implements Step {}

  private final ShellSelf self;

  Interruption(ShellSelf self) {
    this.self = self;
  }

  /** Has a shell between two commands forget that it was interrupted. */
  static void forget(ShellProcess shell) {
    ProcessIdentity itself = shell.started().shell();
    if (leftCommand(shell) && ProcFs.catches(itself.pid(), Signal.RTMAX)) {
      itself.signal(Signal.RTMAX);
    }
  }

  /** Signals what the command runs. */
  void signal(ShellState state, Shell.SignalBelow request) {
    Optional<Step> watch =
        Signal.parse(request.signal())
            .filter(Signal::endsByDefault)
            .flatMap(signal -> signalled(state, signal));
    self.answers().signal(request);
    watch.ifPresent(this::lookLater);
  }

  private Optional<Step> signalled(ShellState state, Signal signal) {
    List<ProcessIdentity> starting =
        self.process().map(shell -> copies(shell, children(shell))).orElse(List.of());
    return state
        .running()
        .filter(_ -> !starting.isEmpty())
        .map(command -> new Signalled(command.id(), signal, starting, 0));
  }

  /** Writes to the shell, which may be the terminal's interrupt character. */
  void stdin(ShellState state, Shell.WriteStdin write) {
    Optional<Step> watch =
        self.process()
            .filter(_ -> write.tty() && !self.life().isClosing())
            .filter(shell -> interrupts(shell, write))
            .flatMap(shell -> state.running().map(command -> interrupted(shell, command.id())));
    self.answers().stdin(write);
    watch.ifPresent(this::lookLater);
  }

  private static Step interrupted(ShellProcess shell, CommandId command) {
    List<ProcessIdentity> running = foreground(shell);
    return new Interrupted(command, copies(shell, running), running.isEmpty(), 0);
  }

  private static boolean interrupts(ShellProcess shell, Shell.WriteStdin write) {
    return shell
        .terminal()
        .flatMap(terminal -> Pty.interruptCharacter(terminal.master()))
        .filter(character -> write.data().contains(character))
        .isPresent();
  }

  /** On the actor's thread, so that no other command begins meanwhile. */
  void on(ShellState state, Step step) {
    if (state.running(step.command()).isEmpty() || self.process().isEmpty()) {
      return;
    }
    look(self.process().get(), step);
    lookLater(
        switch (step) {
          case Signalled(var command, var signal, var starting, var look) ->
              new Signalled(command, signal, starting, look + 1);
          case Interrupted(var command, var starting, var between, var look) ->
              look == LOOKS - 1 && between
                  ? new Interrupted(command, List.of(), false, 0)
                  : new Interrupted(command, starting, between, look + 1);
        });
  }

  private static void look(ShellProcess shell, Step step) {
    switch (step) {
      case Signalled(var _, var signal, var starting, var _) -> again(signal, starting);
      case Interrupted(var _, var starting, var between, var look) -> {
        if (leftCommand(shell)) {
          interruptRest(shell);
        } else {
          again(Signal.INT, starting);
          // Or it is of a trap of the caller's own: that has had its time then.
          if (between && look == LOOKS - 1) {
            again(Signal.INT, foreground(shell));
          }
        }
      }
    }
  }

  private static void again(Signal signal, List<ProcessIdentity> starting) {
    starting.stream()
        .filter(process -> ProcFs.takesDefault(process.pid(), signal))
        .forEach(process -> process.signal(signal));
  }

  /** The shell may be in a loop of its own. */
  private static void interruptRest(ShellProcess shell) {
    foreground(shell).forEach(child -> child.signal(Signal.INT));
    ProcessIdentity itself = shell.started().shell();
    if (ProcFs.catches(itself.pid(), Signal.INT)) {
      itself.signal(Signal.INT);
    }
  }

  /** Whether an interrupt ended what the shell ran: what it starts now is the rest of the line. */
  private static boolean leftCommand(ShellProcess shell) {
    return shell.hasTerminal() && ProcFs.catches(shell.started().shell().pid(), Signal.RTMAX_1);
  }

  /** The newest programs that the shell itself runs. */
  private static List<ProcessIdentity> children(ShellProcess shell) {
    List<Integer> all = ProcFs.children(shell.started().shell().pid());
    return all.subList(Math.max(0, all.size() - NEWEST), all.size()).stream()
        .flatMap(pid -> ProcessIdentity.of(pid).stream())
        .toList();
  }

  private static List<ProcessIdentity> foreground(ShellProcess shell) {
    return children(shell).stream()
        .filter(child -> ProcFs.stat(child.pid()).filter(ProcFs.Stat::inForeground).isPresent())
        .toList();
  }

  /** Those that have not come to their exec. */
  private static List<ProcessIdentity> copies(ShellProcess shell, List<ProcessIdentity> children) {
    Optional<String> commandLine = ProcFs.cmdline(shell.started().shell().pid());
    return children.stream()
        .filter(child -> ProcFs.cmdline(child.pid()).equals(commandLine))
        .toList();
  }

  private void lookLater(Step step) {
    if (step.look() < LOOKS) {
      self.later(step.look() == 0 ? FIRST_LOOK : LOOK, step);
    }
  }
}
