package io.envapi.shell;

import io.envapi.failure.Failure;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.pekko.actor.typed.javadsl.ActorContext;

/** How the requests to a shell wait: for output, for the end of a command, for its own end. */
final class ShellWaiting {

  /** What the actor tells itself of who waits. */
  sealed interface Step extends ShellActor.Internal {}

  private record WaitOver(ShellWaiters.Waiter waiter) implements Step {}

  private record OutputArrived() implements Step {}

  private final ActorContext<Shell.Command> context;
  private final ShellLife life;
  private final ShellAnswers answers;
  private final ShellWaiters waiters = new ShellWaiters();

  /** Whether this actor has been told of output and has not heard of it. */
  private final AtomicBoolean told = new AtomicBoolean();

  ShellWaiting(ShellSelf self) {
    this.context = self.context();
    this.life = self.life();
    this.answers = self.answers();
  }

  void on(ShellState state, Step step) {
    switch (step) {
      case WaitOver(var waiter) -> {
        if (waiters.remove(waiter)) {
          answers.waited(state, waiter);
        }
      }
      case OutputArrived() -> {
        told.set(false);
        waiters.takeOutput().forEach(w -> answers.waited(state, w));
      }
    }
  }

  void readOutput(ShellState state, Shell.ReadOutput read) {
    var waiter = new ShellWaiters.ForOutput(read);
    boolean wait =
        !life.isOver() && state.running().isPresent() && answers.outputEnd(state) <= read.cursor();
    waitOrAnswer(state, waiter, wait ? read.waitMs() : 0);
    if (wait && answers.outputEnd(state) > read.cursor()) {
      // It came before the reader of the output could know that somebody waits.
      tellOutputArrived();
    }
  }

  void follow(ShellState state, Shell.Follow follow) {
    boolean wait =
        !life.isOver()
            && follow.mark() >= state.mark()
            && answers.followable(state) <= follow.cursor();
    waitOrAnswer(state, new ShellWaiters.ForNews(follow), wait ? follow.waitMs() : 0);
    if (wait && answers.followable(state) > follow.cursor()) {
      tellOutputArrived();
    }
  }

  void await(ShellState state, Shell.Await await) {
    boolean idle = life.isOver() || state.running().isEmpty();
    waitOrAnswer(state, new ShellWaiters.ForIdle(await), idle ? 0 : await.timeoutMs());
  }

  void exec(ShellState state, ShellWaiters.ForExec exec) {
    waitOrAnswer(state, exec, exec.exec().waitMs());
  }

  void close(Shell.Close close) {
    waiters.add(new ShellWaiters.ForClose(close));
  }

  private void waitOrAnswer(ShellState state, ShellWaiters.Waiter waiter, long waitMs) {
    if (waitMs == 0) {
      answers.waited(state, waiter);
      return;
    }
    waiters.add(waiter);
    waiters.timer(
        waiter,
        context.scheduleOnce(Duration.ofMillis(waitMs), context.getSelf(), new WaitOver(waiter)));
  }

  /** Called by the thread that reads the output. */
  void outputArrived() {
    if (waiters.wantsOutput()) {
      tellOutputArrived();
    }
  }

  /** One at a time: while something is stored they wait with all else, where room is limited. */
  private void tellOutputArrived() {
    if (told.compareAndSet(false, true)) {
      context.getSelf().tell(new OutputArrived());
    }
  }

  void commandBegan(ShellState state) {
    waiters.takeFollowers().forEach(w -> answers.waited(state, w));
  }

  void commandEnded(ShellState state) {
    waiters.takeForEnd().forEach(w -> answers.waited(state, w));
  }

  void shellEnded(ShellState state) {
    waiters.takeAll().forEach(w -> answers.waited(state, w));
  }

  /** What they wait for has begun and goes on, so they are told how far it is. */
  void answerAll(ShellState state) {
    commandEnded(state);
    for (ShellWaiters.Waiter left : waiters.takeAll()) {
      if (left instanceof ShellWaiters.ForClose(var close)) {
        close.refuse(new Failure.HostUnavailable(2));
      }
    }
  }
}
