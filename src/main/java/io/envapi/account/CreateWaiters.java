package io.envapi.account;

import io.envapi.id.EnvironmentId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Who waits for which create. One may be asked for more than once, and all get its answer. */
final class CreateWaiters {

  /** After so long an ask has failed, and nobody wants what it asked for. */
  static final Duration OVERDUE = Duration.ofSeconds(60);

  /**
   * @param since {@link System#nanoTime}
   */
  private record Waiter(Account.Create create, long since) {

    boolean waits() {
      return System.nanoTime() - since < OVERDUE.toNanos();
    }
  }

  private final Map<EnvironmentId, List<Waiter>> waiters = new HashMap<>();

  void add(Account.Create create) {
    waiters
        .computeIfAbsent(create.id(), _ -> new ArrayList<>())
        .add(new Waiter(create, System.nanoTime()));
  }

  /** A create of this environment that somebody waits for still. */
  Optional<Account.Create> wanted(EnvironmentId environment) {
    return waiters.getOrDefault(environment, List.of()).stream()
        .filter(Waiter::waits)
        .map(Waiter::create)
        .findFirst();
  }

  void answer(EnvironmentId environment, Account.CreateReply reply) {
    Optional.ofNullable(waiters.remove(environment))
        .ifPresent(all -> all.forEach(each -> each.create().replyTo().tell(reply)));
  }

  void answerAll(Account.CreateReply reply) {
    List.copyOf(waiters.keySet()).forEach(environment -> answer(environment, reply));
  }
}
