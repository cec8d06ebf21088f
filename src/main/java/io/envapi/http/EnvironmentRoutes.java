package io.envapi.http;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.envapi.account.EnvironmentSpec;
import io.envapi.environment.Environment;
import io.envapi.environment.EnvironmentView;
import io.envapi.failure.Failure;
import io.envapi.failure.Result;
import io.envapi.host.Environments;
import io.envapi.id.EnvironmentId;
import io.envapi.keyring.Caller;
import io.envapi.preferences.Chosen;
import io.envapi.preferences.Preferences;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;
import org.apache.pekko.actor.typed.ActorRef;

/** {@code /v1/environments}: environments as a whole. */
final class EnvironmentRoutes {

  /** Killing what runs and removing or measuring what is on the disk takes its time. */
  private static final Duration DISK_WORK = Duration.ofSeconds(60);

  /** Each listing tells them all. */
  private static final int MAX_LABELS = 64;

  /** Each command asks the keyring for all of them. */
  private static final int MAX_CREDENTIALS = 64;

  private static final Map<String, EnvironmentView.State> STATES =
      Map.of("active", EnvironmentView.State.ACTIVE, "archived", EnvironmentView.State.ARCHIVED);

  private record Wanted(
      String name,
      Map<String, String> labels,
      List<String> credentials,
      Optional<Boolean> network,
      EnvironmentSpec.LimitOverrides limits) {

    static Wanted read(Fields body) {
      Fields limits = body.inner("limits");
      return new Wanted(
          body.matching("name", Names.ENVIRONMENT),
          body.textMap("labels", Names.LABEL, Names.LABEL, MAX_LABELS),
          body.texts("credentials", Names.PROFILE, MAX_CREDENTIALS),
          body.nullableFlag("network"),
          new EnvironmentSpec.LimitOverrides(
              limits.nullableInteger("max_memory_bytes", 1, Long.MAX_VALUE),
              limits.nullableInteger("max_cpu_seconds", 1, Long.MAX_VALUE),
              limits.nullableInteger("max_file_size_bytes", 1, Long.MAX_VALUE),
              limits.nullableInteger("max_processes_per_shell", 1, Long.MAX_VALUE)));
    }

    private static EnvironmentSpec.Choices choices(Chosen chosen) {
      return new EnvironmentSpec.Choices(
          chosen.environmentIdleTtlSeconds(),
          chosen.shellIdleTtlSeconds(),
          chosen.environmentsPerProfile(),
          chosen.shell());
    }

    EnvironmentSpec spec(Chosen chosen, boolean allowNetwork) {
      return new EnvironmentSpec(
          chosen.profile(),
          name,
          labels,
          List.copyOf(new TreeSet<>(credentials)),
          network.orElse(allowNetwork),
          limits,
          chosen.asked() ? Optional.of(choices(chosen)) : Optional.empty());
    }
  }

  private record Filter(
      Optional<String> profile, Optional<EnvironmentView.State> state, List<String> labels) {

    static Filter read(Query query) {
      return new Filter(query.text("profile"), query.choice("state", STATES), query.all("label"));
    }

    boolean accepts(EnvironmentView view) {
      return profile.map(view.spec().profile()::equals).orElse(true)
          && state.map(wanted -> wanted == view.state()).orElse(true)
          && labels.stream().allMatch(label -> has(view.spec().labels(), label));
    }

    /**
     * @param label {@code key} or {@code key=value}
     */
    private static boolean has(Map<String, String> labels, String label) {
      int equals = label.indexOf('=');
      return equals < 0
          ? labels.containsKey(label)
          : label.substring(equals + 1).equals(labels.get(label.substring(0, equals)));
    }
  }

  private final Environments environments;
  private final Audited audited;
  private final Preferences preferences;
  private final boolean allowNetwork;

  EnvironmentRoutes(
      Environments environments, Audited audited, Preferences preferences, HttpSettings settings) {
    this.environments = environments;
    this.audited = audited;
    this.preferences = preferences;
    this.allowNetwork = settings.allowNetwork();
  }

  void addTo(RouteTable routes) {
    routes
        .on("/v1/environments")
        .add("POST", new RouteTable.Repeatable(audited.of("environment.create", this::create)))
        .get(this::list);
    routes
        .on("/v1/environments/{environment}")
        .get(this::describe)
        .delete(audited.of("environment.delete", this::delete));
    routes.on("/v1/environments/{environment}/summary").get(this::summary);
    routes.on("/v1/environments/{environment}/usage").get(this::usage);
    routes
        .on("/v1/environments/{environment}/reset")
        .add("POST", new RouteTable.Repeatable(audited.of("environment.reset", this::reset)));
  }

  private CompletionStage<Answer> create(Exchange exchange, Deed deed) {
    return exchange.body(
        Wanted::read,
        wanted -> {
          if (wanted.network().orElse(false) && !allowNetwork) {
            return Problems.of(new Failure.NetworkDisabled()).now();
          }
          return preferences
              .of(deed.caller(), exchange.namedProfile())
              .thenCompose(
                  found ->
                      switch (found) {
                        case Result.Refused<Chosen>(var failure) -> Problems.of(failure).now();
                        case Result.Ok<Chosen>(var chosen) ->
                            environments
                                .create(
                                    deed.account(),
                                    exchange.drawn(),
                                    wanted.spec(chosen, allowNetwork))
                                .thenApply(result -> created(deed, result));
                      });
        });
  }

  private Answer created(Deed deed, Result<EnvironmentView> result) {
    return switch (result) {
      case Result.Refused<EnvironmentView>(var failure) -> Problems.of(failure);
      case Result.Ok<EnvironmentView>(var view) -> {
        deed.done(
            deed.event(view.id())
                .with("profile", view.spec().profile())
                .with("name", view.spec().name()));
        yield Answer.created(EnvironmentJson.environment(view));
      }
    };
  }

  private CompletionStage<Answer> list(Exchange exchange, Caller caller) {
    return exchange.query(
        Filter::read,
        filter ->
            environments
                .list(caller.account())
                .thenApply(
                    views ->
                        Answer.ok(
                            EnvironmentJson.environments(
                                views.stream().filter(filter::accepts).toList()))));
  }

  private CompletionStage<Answer> describe(Exchange exchange, Caller caller) {
    return exchange.environment(
        id ->
            environments
                .describe(caller.account(), id)
                .thenApply(
                    result ->
                        switch (result) {
                          case Result.Ok<EnvironmentView>(var view) ->
                              Answer.ok(EnvironmentJson.environment(view));
                          case Result.Refused<EnvironmentView>(var failure) -> Problems.of(failure);
                        }));
  }

  private CompletionStage<Answer> summary(Exchange exchange, Caller caller) {
    return exchange.environment(
        id ->
            this.<Environment.SummaryReply>ask(
                    caller, id, Duration.ZERO, (_, replyTo) -> new Environment.Summarise(replyTo))
                .thenApply(
                    reply ->
                        switch (reply) {
                          case Environment.Summary summary -> Answer.ok(summary(summary));
                          case Environment.Refused(var failure) -> Problems.of(failure);
                        }));
  }

  private static ObjectNode summary(Environment.Summary summary) {
    ObjectNode json = Json.object();
    json.set("environment", EnvironmentJson.environment(summary.environment()));
    json.set("shells", Json.array(summary.shells(), ShellJson::shell));
    json.set("processes", Json.array(summary.processes(), ShellJson::process));
    json.set("recent_commands", Json.array(summary.recentCommands(), ShellJson::command));
    return json;
  }

  private CompletionStage<Answer> usage(Exchange exchange, Caller caller) {
    return exchange.environment(
        id -> {
          var asked = new CompletableFuture<Environments.Place>();
          return this.<Environment.UsageReply>ask(
                  caller,
                  id,
                  DISK_WORK,
                  (place, replyTo) -> {
                    asked.complete(place);
                    return new Environment.MeasureUsage(place.quotas(), replyTo);
                  })
              .thenApply(
                  reply ->
                      switch (reply) {
                        // The environment was asked, so its place was found.
                        case Environment.Usage(var usage) ->
                            Answer.ok(EnvironmentJson.usage(id, usage, asked.join()));
                        case Environment.Refused(var failure) -> Problems.of(failure);
                      });
        });
  }

  private CompletionStage<Answer> delete(Exchange exchange, Deed deed) {
    return exchange.environment(
        id ->
            this.<Environment.DeleteReply>ask(
                    deed.caller(), id, DISK_WORK, (_, replyTo) -> new Environment.Delete(replyTo))
                .thenApply(
                    reply ->
                        switch (reply) {
                          case Environment.Deleted() -> {
                            deed.done(deed.event(id));
                            yield new Answer.Nothing();
                          }
                          case Environment.Refused(var failure) -> Problems.of(failure);
                        }));
  }

  private CompletionStage<Answer> reset(Exchange exchange, Deed deed) {
    return exchange.environment(
        id ->
            this.<Environment.DescribeReply>ask(
                    deed.caller(), id, DISK_WORK, (_, replyTo) -> new Environment.Reset(replyTo))
                .thenApply(
                    reply ->
                        switch (reply) {
                          case Environment.Described(var view) -> {
                            deed.done(deed.event(id));
                            yield Answer.ok(EnvironmentJson.environment(view));
                          }
                          case Environment.Refused(var failure) -> Problems.of(failure);
                        }));
  }

  private <R> CompletionStage<R> ask(
      Caller caller,
      EnvironmentId id,
      Duration wait,
      BiFunction<Environments.Place, ActorRef<R>, Environment.Request> request) {
    return environments.environment(caller.account(), id, wait, request);
  }
}
