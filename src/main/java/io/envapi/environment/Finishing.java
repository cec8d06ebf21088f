package io.envapi.environment;

import io.envapi.failure.Failure;
import io.envapi.failure.Refusable;
import java.util.Optional;

/**
 * A step of what was begun with an event and goes on after a failure, so its request is not refused
 * as without effect.
 */
interface Finishing extends Refusable {

  Optional<? extends Environment.Request> request();

  @Override
  default void refuse(Failure failure) {
    request().ifPresent(r -> r.refuse(new Failure.HostUnavailable(2)));
  }
}
