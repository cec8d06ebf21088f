package io.envapi.http;

import io.envapi.host.Environments;
import io.envapi.id.CommandId;
import io.envapi.id.ShellId;
import io.envapi.keyring.Caller;
import io.envapi.shell.Shell;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.apache.pekko.actor.typed.ActorSystem;

/** The output of shells and commands as it comes. */
final class StreamRoutes {

  private static final Map<String, Boolean> BASE64 = Map.of("utf-8", false, "base64", true);

  /**
   * @param from where the stream begins
   */
  private record Start(long from, boolean base64) {}

  private final ActorSystem<?> system;
  private final Environments environments;

  StreamRoutes(ActorSystem<?> system, Environments environments) {
    this.system = system;
    this.environments = environments;
  }

  void addTo(RouteTable routes) {
    routes.on("/v1/shells/{shell}/output/stream").get(this::shell);
    routes.on("/v1/commands/{command}/output/stream").get(this::command);
  }

  private CompletionStage<Answer> shell(Exchange exchange, Caller caller) {
    return exchange.shell(
        id ->
            exchange.query(start(exchange, "cursor"), start -> shell(exchange, caller, id, start)));
  }

  /** Looks at the shell first, so that what is wrong is told before a stream begins. */
  private CompletionStage<Answer> shell(Exchange exchange, Caller caller, ShellId id, Start start) {
    var subject = new Telling.Subject(Optional.empty(), 0, start.base64());
    return environments
        .<Shell.DescribeReply>shell(
            caller.account(), id, Duration.ZERO, (_, replyTo) -> new Shell.Describe(replyTo))
        .thenApply(
            reply ->
                switch (reply) {
                  case Shell.Described _ ->
                      events(following(exchange, caller, id, subject), start.from());
                  case Shell.Refused(var failure) -> Problems.of(failure);
                });
  }

  private CompletionStage<Answer> command(Exchange exchange, Caller caller) {
    return exchange.command(
        id ->
            exchange.query(
                start(exchange, "offset"), start -> command(exchange, caller, id, start)));
  }

  private CompletionStage<Answer> command(
      Exchange exchange, Caller caller, CommandId id, Start start) {
    return environments
        .<Shell.CommandReply>shell(
            caller.account(),
            id.shell(),
            Duration.ZERO,
            (_, replyTo) -> new Shell.ReadCommand(id, 0, 1, replyTo))
        .thenApply(
            reply ->
                switch (reply) {
                  case Shell.CommandRead read -> {
                    long base = read.command().outputStart();
                    var subject = new Telling.Subject(Optional.of(id), base, start.base64());
                    yield events(
                        following(exchange, caller, id.shell(), subject), base + start.from());
                  }
                  case Shell.Refused(var failure) -> Problems.of(CommandRoutes.named(failure, id));
                });
  }

  private static Follower.Following following(
      Exchange exchange, Caller caller, ShellId id, Telling.Subject subject) {
    return new Follower.Following(
        caller.account(), id, subject, exchange.path(), CompletableFuture::completedStage);
  }

  private Answer events(Follower.Following following, long cursor) {
    return new Answer.Events(Follower.events(system, environments, following, cursor));
  }

  /** Where the reader got to, else where it wants to begin. */
  private static Function<Query, Start> start(Exchange exchange, String name) {
    return query -> {
      long wanted = query.integer(name, 0, 0, Long.MAX_VALUE);
      boolean base64 = query.choice("encoding", BASE64).orElse(false);
      List<String> last = exchange.headers("Last-Event-ID");
      if (last.isEmpty()) {
        return new Start(wanted, base64);
      }
      if (last.size() > 1 || !last.getFirst().matches("[0-9]{1,18}")) {
        query.fault("Last-Event-ID", "must be the id of an event of this stream", "int_parsing");
        return new Start(0, base64);
      }
      return new Start(Long.parseLong(last.getFirst()), base64);
    };
  }
}
