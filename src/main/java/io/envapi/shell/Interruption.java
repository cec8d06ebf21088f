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
 * shell waits for its end. So what was being started is signalled again. Only children without a
 * handler of their own are: one that takes the signal may well give its handler up, to end in
 * peace.
 *
 * <p>And a shell that takes Ctrl-C goes on with the rest of its line, which it may have come to at
 * that very moment. So the rest is interrupted too, for a while.
 */
final class Interruption {

  private static final Duration FIRST_LOOK = Duration.ofMillis(20);
  private static final Duration LOOK = Duration.ofMillis(50);
  private static final int LOOKS = 20;

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

  /** Signals what the command runs. */
  void signal(ShellState state, Shell.SignalBelow request) {
    Optional<Step> watch =
        Signal.parse(request.signal())
            .filter(Signal::endsByDefault)
            .flatMap(
                signal ->
                    state.running().map(c -> new Signalled(c.id(), signal, starting(signal), 0)));
    self.answers().signal(request);
    watch.ifPresent(this::lookLater);
  }

  /** Writes to the shell, which may be the terminal's interrupt character. */
  void stdin(ShellState state, Shell.WriteStdin write) {
    Optional<Step> watch =
        write.tty() && interrupts(write)
            ? state.running().map(command -> interrupted(command.id()))
            : Optional.empty();
    self.answers().stdin(write);
    watch.ifPresent(this::lookLater);
  }

  private Step interrupted(CommandId command) {
    boolean between = self.process().stream().allMatch(shell -> foreground(shell).isEmpty());
    return new Interrupted(command, starting(Signal.INT), between, 0);
  }

  private boolean interrupts(Shell.WriteStdin write) {
    return self.process()
        .filter(shell -> !self.life().isClosing())
        .flatMap(ShellProcess::terminal)
        .flatMap(terminal -> Pty.interruptCharacter(terminal.master()))
        .filter(character -> write.data().contains(character))
        .isPresent();
  }

  /** The children that have no handler for the signal but, perhaps, that of the shell. */
  private List<ProcessIdentity> starting(Signal signal) {
    return self.process().stream()
        .flatMap(
            shell ->
                shell.children().stream()
                    .filter(
                        child -> ProcFs.takesDefault(child.pid(), signal) || shell.isCopy(child)))
        .toList();
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
        if (shell.isInterrupted()) {
          interruptRest(shell);
        } else {
          again(Signal.INT, starting.stream().filter(Interruption::inForeground).toList());
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

  private static List<ProcessIdentity> foreground(ShellProcess shell) {
    return shell.children().stream().filter(Interruption::inForeground).toList();
  }

  private static boolean inForeground(ProcessIdentity process) {
    return ProcFs.stat(process.pid()).filter(ProcFs.Stat::inForeground).isPresent();
  }

  private void lookLater(Step step) {
    if (step.look() < LOOKS) {
      self.later(step.look() == 0 ? FIRST_LOOK : LOOK, step);
    }
  }
}
