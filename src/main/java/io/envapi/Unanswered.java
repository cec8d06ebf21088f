package io.envapi;

import io.envapi.failure.Failure;
import io.envapi.failure.Refusable;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

/**
 * The requests that an event-sourced actor would take with it when its journal fails: those that
 * wait behind a write, and the one that is being written. Used by one actor's thread.
 */
public final class Unanswered {

  private static final int MOST = 4_096;

  private final Set<Refusable> held = Collections.newSetFromMap(new IdentityHashMap<>());
  private boolean failing;

  /** {@code message} came, or its event is about to be written. */
  public void hold(Object message) {
    if (message instanceof Refusable request && held.size() < MOST) {
      held.add(request);
    }
  }

  /** {@code message} was taken up: whoever did that sees to its answer. */
  public void handled(Object message) {
    if (message instanceof Refusable request) {
      held.remove(request);
    }
  }

  boolean isFailing() {
    return failing;
  }

  void failing(boolean now) {
    failing = now;
  }

  void refuseAll(Failure failure) {
    List<Refusable> all = List.copyOf(held);
    held.clear();
    all.forEach(request -> request.refuse(failure));
  }
}
