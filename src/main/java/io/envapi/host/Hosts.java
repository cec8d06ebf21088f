package io.envapi.host;

import io.envapi.audit.AuditFilter;
import io.envapi.environment.EnvironmentView;
import io.envapi.id.AccountId;
import io.envapi.id.EnvironmentId;
import io.envapi.id.HostId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.stream.Stream;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.javadsl.AskPattern;

/** What is asked of all hosts of the cluster at once. No stage fails for want of one of them. */
public final class Hosts {

  /** Operators wait no longer for a host that says nothing. */
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  /**
   * What those that answered in time have.
   *
   * @param away the hosts that did not, in the order of their ids
   */
  public record Found<T>(T value, List<HostId> away) {
    public Found {
      away = List.copyOf(away);
    }
  }

  /**
   * The newest lines of the audit logs.
   *
   * @param lines oldest first
   * @param truncated a host's search ended before its oldest lines
   */
  public record Audit(List<AuditLine> lines, boolean truncated) {
    public Audit {
      lines = List.copyOf(lines);
    }
  }

  private final ActorSystem<?> system;
  private final HostDirectory directory;
  private final Environments environments;
  private final Duration timeout;

  Hosts(
      ActorSystem<?> system,
      HostDirectory directory,
      Environments environments,
      HostSettings settings) {
    this.system = system;
    this.directory = directory;
    this.environments = environments;
    this.timeout = settings.askTimeout().compareTo(PATIENCE) < 0 ? settings.askTimeout() : PATIENCE;
  }

  /** Every environment of every account, oldest first. */
  public CompletionStage<Found<List<EnvironmentView>>> environments() {
    return this.<Host.Command, Host.Listed>ask(directory.all(), Host.ListEnvironments::new)
        .thenCompose(
            found ->
                environments
                    .views(
                        found.value().values().stream()
                            .flatMap(listed -> listed.environments().stream())
                            .toList(),
                        gone -> {})
                    .thenApply(
                        views ->
                            new Found<>(
                                views.stream()
                                    .sorted(Comparator.comparingLong(EnvironmentView::createdAt))
                                    .toList(),
                                found.away())));
  }

  /** Whose environment it is, whoever asks; empty where no host that answers has it. */
  public CompletionStage<Found<Optional<AccountId>>> owner(EnvironmentId id) {
    return this.<Host.Command, Host.Owner>ask(
            directory.all(), replyTo -> new Host.FindOwner(id, replyTo))
        .thenApply(
            found ->
                new Found<>(
                    found.value().values().stream()
                        .flatMap(owner -> owner.account().stream())
                        .findFirst(),
                    found.away()));
  }

  /** What each has on it, in the order of their ids. */
  public CompletionStage<Found<List<Host.Description>>> describe() {
    return this.<Host.Command, Host.Description>ask(directory.all(), Host.Describe::new)
        .thenApply(
            found ->
                new Found<>(
                    found.value().values().stream()
                        .sorted(Comparator.comparing(host -> host.id().value()))
                        .toList(),
                    found.away()));
  }

  /** The newest lines of all, as many as the filter's limit at most. */
  public CompletionStage<Found<Audit>> audit(AuditFilter filter) {
    return this.<AuditReader.Read, AuditReader.Reply>ask(
            directory.audits(), replyTo -> new AuditReader.Read(filter, replyTo))
        .thenApply(
            found -> {
              var away = new ArrayList<>(found.away());
              var pages = new ArrayList<AuditReader.Lines>();
              found
                  .value()
                  .forEach(
                      (host, reply) -> {
                        switch (reply) {
                          case AuditReader.Lines lines -> pages.add(lines);
                          case AuditReader.Unreadable() -> away.add(host);
                        }
                      });
              return new Found<>(newest(pages, filter.limit()), away);
            });
  }

  /** Each host's are in order among themselves, and stay so. */
  private static Audit newest(List<AuditReader.Lines> pages, int limit) {
    List<AuditLine> all =
        pages.size() == 1
            ? pages.getFirst().lines()
            : pages.stream()
                .flatMap(page -> page.lines().stream())
                .sorted(Comparator.comparingLong(AuditLine::at))
                .toList();
    return new Audit(
        all.subList(Math.max(0, all.size() - limit), all.size()),
        pages.stream().anyMatch(AuditReader.Lines::truncated));
  }

  private <C, R> CompletionStage<Found<Map<HostId, R>>> ask(
      Map<HostId, ActorRef<C>> hosts, Function<ActorRef<R>, C> question) {
    var answers = new LinkedHashMap<HostId, CompletableFuture<Optional<R>>>();
    hosts.forEach(
        (id, host) ->
            answers.put(
                id,
                AskPattern.<C, R>ask(host, question::apply, timeout, system.scheduler())
                    .thenApply(Optional::of)
                    .exceptionally(_ -> Optional.empty())
                    .toCompletableFuture()));
    return CompletableFuture.allOf(answers.values().toArray(CompletableFuture<?>[]::new))
        .thenApply(_ -> found(answers));
  }

  private <R> Found<Map<HostId, R>> found(Map<HostId, CompletableFuture<Optional<R>>> answers) {
    var values = new LinkedHashMap<HostId, R>();
    answers.forEach((id, answer) -> answer.join().ifPresent(value -> values.put(id, value)));
    var away = new TreeSet<HostId>(Comparator.comparing(HostId::value));
    Stream.concat(answers.keySet().stream(), directory.away().stream())
        .filter(id -> !values.containsKey(id))
        .forEach(away::add);
    return new Found<>(values, List.copyOf(away));
  }
}
