package io.envapi.host;

import io.envapi.account.Account;
import io.envapi.environment.Environment;
import io.envapi.environment.EnvironmentView;
import io.envapi.failure.Failure;
import io.envapi.id.AccountId;
import io.envapi.id.EnvironmentId;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.javadsl.AskPattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a service that was killed in the middle of a create left on its host: an environment, or
 * only the place for one, of which the account knows nothing. Nobody has its id, so nobody could
 * delete it.
 */
record Strays(ActorSystem<?> system, Accounts accounts, ActorRef<Host.Command> host) {

  private static final Logger LOG = LoggerFactory.getLogger(Strays.class);

  /** Generous: the host ends what was left running before it answers, and nobody waits. */
  private static final Duration ANSWER = Duration.ofMinutes(2);

  /** Looks through all environments of the host, one at a time. */
  void remove() {
    long startedAt = System.currentTimeMillis();
    this.<Host.Places>ask(Host.ListPlaces::new)
        .thenCompose(
            places -> {
              CompletionStage<Void> done = CompletableFuture.completedStage(null);
              for (var each : places.accounts().entrySet()) {
                done = done.thenCompose(before -> check(each.getValue(), each.getKey(), startedAt));
              }
              return done;
            })
        .whenComplete(
            (done, failure) -> {
              if (failure != null) {
                LOG.warn("not all environments were looked at for strays", failure);
              }
            });
  }

  /** What the account expects to be made is none; it asks the host itself what became of it. */
  private CompletionStage<Void> check(AccountId account, EnvironmentId id, long startedAt) {
    return accounts
        .<Account.ClaimsReply>ask(account, ANSWER, replyTo -> new Account.Claims(id, replyTo))
        .thenCompose(
            reply ->
                reply.claimed()
                    ? CompletableFuture.completedStage(null)
                    : removeUnlessUsed(id, startedAt));
  }

  private CompletionStage<Void> removeUnlessUsed(EnvironmentId id, long startedAt) {
    return this.<Environment.DescribeReply>deliver(id, Environment.Describe::new)
        .thenCompose(
            reply ->
                switch (reply) {
                  case Environment.Described(var view) when isOld(view, startedAt) -> delete(id);
                  case Environment.Described _ -> CompletableFuture.completedStage(null);
                  case Environment.Refused(Failure.NotFound _) -> delete(id);
                  case Environment.Refused _ -> CompletableFuture.completedStage(null);
                });
  }

  /** One that was ever used has been known to somebody, whatever its account says now. */
  private static boolean isOld(EnvironmentView view, long startedAt) {
    return view.createdAt() < startedAt && view.shells().isEmpty();
  }

  private CompletionStage<Void> delete(EnvironmentId id) {
    LOG.info("{}: its account does not know it: removing", id);
    return this.<Environment.DeleteReply>deliver(id, Environment.Delete::new)
        .thenApply(reply -> null);
  }

  private <R> CompletionStage<R> deliver(
      EnvironmentId id, java.util.function.Function<ActorRef<R>, Environment.Request> request) {
    return ask(replyTo -> new Host.Deliver(id, request.apply(replyTo)));
  }

  private <R> CompletionStage<R> ask(
      java.util.function.Function<ActorRef<R>, Host.Command> request) {
    return AskPattern.ask(host, request::apply, ANSWER, system.scheduler());
  }
}
