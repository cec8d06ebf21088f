package io.envapi.host;

import io.envapi.account.Account;
import io.envapi.environment.Environment;
import io.envapi.environment.EnvironmentView;
import io.envapi.failure.Failure;
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
    this.<Host.Listed>ask(Host.ListEnvironments::new)
        .thenCompose(
            listed -> {
              CompletionStage<Void> done = CompletableFuture.completedStage(null);
              for (Account.Located each : listed.environments()) {
                done = done.thenCompose(before -> check(each.id(), startedAt));
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

  private CompletionStage<Void> check(EnvironmentId id, long startedAt) {
    return this.<Environment.DescribeReply>deliver(id, Environment.Describe::new)
        .thenCompose(
            reply ->
                switch (reply) {
                  case Environment.Described(var view) when isOld(view, startedAt) ->
                      removeUnlessKnown(view);
                  case Environment.Described _ -> CompletableFuture.completedStage(null);
                  case Environment.Refused(Failure.NotFound _) -> delete(id);
                  case Environment.Refused _ -> CompletableFuture.completedStage(null);
                });
  }

  /** One that was ever used has been known to somebody, whatever its account says now. */
  private static boolean isOld(EnvironmentView view, long startedAt) {
    return view.createdAt() < startedAt && view.shells().isEmpty();
  }

  private CompletionStage<Void> removeUnlessKnown(EnvironmentView view) {
    return accounts
        .<Account.FindReply>ask(
            view.account(), ANSWER, replyTo -> new Account.Find(view.id(), replyTo))
        .thenCompose(
            found ->
                switch (found) {
                  case Account.Found _ -> CompletableFuture.completedStage(null);
                  case Account.Unknown() -> delete(view.id());
                });
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
