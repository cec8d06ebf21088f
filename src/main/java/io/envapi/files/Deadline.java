package io.envapi.files;

import java.time.Duration;
import java.util.function.BooleanSupplier;

/**
 * When to stop what may take long: at a moment, or as soon as nobody has a use for it.
 *
 * @param nanos the moment, in {@link System#nanoTime}
 * @param unwanted asked often, by the thread that works
 */
record Deadline(long nanos, BooleanSupplier unwanted) {

  static Deadline in(Duration time, BooleanSupplier unwanted) {
    return new Deadline(System.nanoTime() + time.toNanos(), unwanted);
  }

  boolean isOver() {
    return unwanted.getAsBoolean() || System.nanoTime() - nanos > 0;
  }
}
