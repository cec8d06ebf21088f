package io.envapi.host;

import io.envapi.account.Account;
import io.envapi.account.AccountActor;
import io.envapi.account.Quotas;
import io.envapi.id.AccountId;
import io.envapi.id.EnvironmentId;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.cluster.sharding.typed.javadsl.ClusterSharding;
import org.apache.pekko.cluster.sharding.typed.javadsl.Entity;
import org.apache.pekko.cluster.sharding.typed.javadsl.EntityRef;
import org.apache.pekko.cluster.sharding.typed.javadsl.EntityTypeKey;

/** Accounts, wherever in the cluster they are. */
public final class Accounts {

  private static final EntityTypeKey<Account.Command> KEY =
      EntityTypeKey.create(Account.Command.class, "Account");

  private final ClusterSharding sharding;
  private final Quotas defaults;
  private final Duration timeout;

  public Accounts(
      ClusterSharding sharding, Quotas defaults, Account.Placer placer, HostSettings settings) {
    this.sharding = sharding;
    this.defaults = defaults;
    this.timeout = settings.askTimeout();
    sharding.init(
        Entity.of(
            KEY,
            context ->
                AccountActor.create(new AccountId(context.getEntityId()), defaults, placer)));
  }

  /** The deployment's quotas. */
  public Quotas defaults() {
    return defaults;
  }

  public CompletionStage<Account.QuotasReply> quotas(AccountId account) {
    return askPatiently(account, Account.ReadQuotas::new);
  }

  /** Replaces all of an account's overrides; each has passed {@link Quotas#invalid}. */
  public CompletionStage<Account.QuotasReply> override(
      AccountId account, Map<String, Number> overrides) {
    return ask(account, timeout, replyTo -> new Account.OverrideQuotas(overrides, replyTo));
  }

  /** Tells an account what became of one of its environments; completes when that is stored. */
  public CompletionStage<Account.Noted> changed(
      AccountId account, EnvironmentId environment, Account.Change change) {
    return ask(account, timeout, replyTo -> new Account.Changed(environment, change, replyTo));
  }

  /** Asks what an account answers the same way however often it is asked. */
  <R> CompletionStage<R> askPatiently(
      AccountId account, Function<ActorRef<R>, Account.Command> question) {
    return PatientAsk.ask(entity(account), timeout, timeout, question);
  }

  <R> CompletionStage<R> ask(
      AccountId account, Duration within, Function<ActorRef<R>, Account.Command> command) {
    return entity(account).ask(command::apply, within);
  }

  private EntityRef<Account.Command> entity(AccountId account) {
    return sharding.entityRefFor(KEY, account.value());
  }
}
