package io.envapi.host;

import io.envapi.account.Account;
import io.envapi.account.EnvironmentSpec;
import io.envapi.account.Quotas;
import io.envapi.environment.Environment;
import io.envapi.environment.EnvironmentHistory;
import io.envapi.environment.EnvironmentView;
import io.envapi.failure.Failure;
import io.envapi.failure.Result;
import io.envapi.id.AccountId;
import io.envapi.id.EnvironmentId;
import io.envapi.id.HostId;
import io.envapi.id.ShellId;
import io.envapi.shell.Shell;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.javadsl.AskPattern;

/**
 * Environments and shells, wherever they are. A request goes to the account first, which knows
 * whether the environment is its own and where it is, then to that host.
 *
 * <p>A stage fails only with a time-out of an ask, or because the host was lost meanwhile; every
 * refusal is part of the reply.
 */
public final class Environments {

  /** An environment the account has, and what the account may use. */
  public record Place(HostId host, Quotas quotas, long inProfile, long inAccount) {}

  private static final HostId NOWHERE = new HostId("-");

  private final ActorSystem<?> system;
  private final Accounts accounts;
  private final HostDirectory hosts;
  private final Duration timeout;
  private final EnvironmentHistory history;

  public Environments(
      ActorSystem<?> system, Accounts accounts, HostDirectory hosts, HostSettings settings) {
    this.system = system;
    this.accounts = accounts;
    this.hosts = hosts;
    this.timeout = settings.askTimeout();
    this.history = new EnvironmentHistory(system);
  }

  /**
   * Makes an environment, or finds the one that was made before.
   *
   * @param fresh drawn for it
   */
  public CompletionStage<Result<EnvironmentView>> create(
      AccountId account, EnvironmentId fresh, EnvironmentSpec spec) {
    return accounts
        .<Account.CreateReply>askPatiently(
            account, replyTo -> new Account.Create(fresh, spec, replyTo))
        .thenCompose(
            reply ->
                switch (reply) {
                  case Account.Refused(var failure) ->
                      CompletableFuture.completedStage(Result.refused(failure));
                  case Account.Created(var id, var _) -> describe(account, id);
                });
  }

  public CompletionStage<Result<EnvironmentView>> describe(AccountId account, EnvironmentId id) {
    return this.<Environment.DescribeReply>environment(
            account, id, Duration.ZERO, (place, replyTo) -> new Environment.Describe(replyTo))
        .thenApply(Environments::view);
  }

  /** The account's environments, oldest first; those whose host is away are left out. */
  public CompletionStage<List<EnvironmentView>> list(AccountId account) {
    return accounts
        .<Account.Listed>askPatiently(account, Account.ListEnvironments::new)
        .thenCompose(
            listed ->
                views(
                    listed.environments(),
                    // Deleted, and the service was killed before the account knew.
                    gone -> accounts.changed(account, gone, Account.Change.DELETED)));
  }

  /**
   * Asks one of the account's environments.
   *
   * @param wait how long the request itself may take, on top of the usual time for an answer
   */
  public <R> CompletionStage<R> environment(
      AccountId account,
      EnvironmentId id,
      Duration wait,
      BiFunction<Place, ActorRef<R>, Environment.Request> request) {
    return accounts
        .<Account.FindReply>askPatiently(account, replyTo -> new Account.Find(id, replyTo))
        .thenCompose(
            found ->
                switch (found) {
                  case Account.Unknown() -> refused(id, request);
                  case Account.Found(var host, var quotas, var inProfile, var inAccount) ->
                      ask(id, new Place(host, quotas, inProfile, inAccount), wait, request);
                });
  }

  /** Asks again where an environment was found before, without asking its account. */
  public <R> CompletionStage<R> again(
      EnvironmentId id,
      Place place,
      Duration wait,
      BiFunction<Place, ActorRef<R>, Environment.Request> request) {
    return ask(id, place, wait, request);
  }

  /** Whether what is asked there stays on this host. */
  public boolean isHere(Place place) {
    return hosts.own().equals(place.host());
  }

  /**
   * What happened to an environment, from the journal: also to one whose host is away, or that was
   * deleted. For who was let in to it.
   *
   * @param after the number of an event; 0 for none
   */
  public CompletionStage<List<EnvironmentHistory.Stored>> history(
      EnvironmentId id, long after, int most) {
    return history.read(id, after, most);
  }

  /** Asks one of the account's shells. */
  public <R> CompletionStage<R> shell(
      AccountId account,
      ShellId shell,
      Duration wait,
      BiFunction<Place, ActorRef<R>, Shell.Request> request) {
    return environment(
        account,
        shell.environment(),
        wait,
        (Place place, ActorRef<R> replyTo) -> toShell(shell, place, replyTo, request));
  }

  private static <R> Environment.Request toShell(
      ShellId shell,
      Place place,
      ActorRef<R> replyTo,
      BiFunction<Place, ActorRef<R>, Shell.Request> request) {
    return new Environment.ToShell(shell, request.apply(place, replyTo), place.quotas());
  }

  private <R> CompletionStage<R> ask(
      EnvironmentId id,
      Place place,
      Duration wait,
      BiFunction<Place, ActorRef<R>, Environment.Request> request) {
    return hosts
        .<R>ask(
            place.host(),
            host ->
                AskPattern.ask(
                    host,
                    replyTo -> new Host.Deliver(id, request.apply(place, replyTo)),
                    timeout.plus(wait),
                    system.scheduler()))
        .orElseGet(() -> refused(request, r -> HostDirectory.AWAY));
  }

  private <R> CompletionStage<R> refused(
      EnvironmentId unknown, BiFunction<Place, ActorRef<R>, Environment.Request> request) {
    return refused(request, made -> made.notFound(unknown));
  }

  /** The answer to a request that never left: its own refusal, through a reference of our own. */
  private <R> CompletionStage<R> refused(
      BiFunction<Place, ActorRef<R>, Environment.Request> request,
      Function<Environment.Request, Failure> why) {
    Place nowhere = new Place(NOWHERE, accounts.defaults(), 0, 0);
    return AskPattern.<HostDirectory.Refuse, R>ask(
        hosts.refuser(),
        replyTo -> {
          Environment.Request made = request.apply(nowhere, replyTo);
          return new HostDirectory.Refuse(made, why.apply(made));
        },
        timeout,
        system.scheduler());
  }

  /**
   * @param gone told of those that their host does not have; those of a host that is away are left
   *     out
   */
  CompletionStage<List<EnvironmentView>> views(
      List<Account.Located> located, Consumer<EnvironmentId> gone) {
    List<CompletionStage<Result<EnvironmentView>>> asked =
        located.stream()
            .map(
                place ->
                    hosts
                        .ask(place.host(), host -> describeOn(host, place.id()))
                        .orElseGet(
                            () ->
                                CompletableFuture.completedStage(
                                    Result.refused(HostDirectory.AWAY)))
                        .exceptionally(_ -> Result.refused(HostDirectory.AWAY)))
            .toList();
    return all(asked)
        .thenApply(
            results -> {
              List<EnvironmentView> views = new ArrayList<>();
              for (int i = 0; i < results.size(); i++) {
                switch (results.get(i)) {
                  case Result.Ok<EnvironmentView>(var view) -> views.add(view);
                  case Result.Refused<EnvironmentView>(Failure.NotFound _) ->
                      gone.accept(located.get(i).id());
                  case Result.Refused<EnvironmentView> _ -> {}
                }
              }
              return views;
            });
  }

  private CompletionStage<Result<EnvironmentView>> describeOn(
      ActorRef<Host.Command> host, EnvironmentId id) {
    return AskPattern.<Host.Command, Environment.DescribeReply>ask(
            host,
            replyTo -> new Host.Deliver(id, new Environment.Describe(replyTo)),
            timeout,
            system.scheduler())
        .thenApply(Environments::view);
  }

  private static Result<EnvironmentView> view(Environment.DescribeReply reply) {
    return switch (reply) {
      case Environment.Described(var environment) -> Result.ok(environment);
      case Environment.Refused(var failure) -> Result.refused(failure);
    };
  }

  private static <T> CompletionStage<List<T>> all(List<CompletionStage<T>> stages) {
    CompletionStage<List<T>> result = CompletableFuture.completedStage(new ArrayList<>());
    for (CompletionStage<T> stage : stages) {
      result =
          result.thenCombine(
              stage,
              (list, value) -> {
                list.add(value);
                return list;
              });
    }
    return result;
  }
}
