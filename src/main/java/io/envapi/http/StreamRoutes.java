package io.envapi.http;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.envapi.host.Environments;
import io.envapi.id.CommandId;
import io.envapi.id.ShellId;
import io.envapi.keyring.Caller;
import io.envapi.shell.CommandRecord;
import io.envapi.shell.Shell;
import io.envapi.shell.ShellView;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Predicate;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.util.ByteString;

/** The output of shells and commands as it comes. */
final class StreamRoutes {

  private static final Map<String, Boolean> BASE64 = Map.of("utf-8", false, "base64", true);

  /**
   * @param from where the stream begins
   */
  private record Start(StreamPosition from, boolean base64) {}

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
            exchange.query(
                start(exchange, "cursor", _ -> true), start -> shell(exchange, caller, id, start)));
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
                      events(
                          exchange,
                          caller,
                          id,
                          subject,
                          (shell, _) -> completed(end("shell", ShellJson.shell(shell))),
                          start);
                  case Shell.Refused(var failure) -> Problems.of(failure);
                });
  }

  private CompletionStage<Answer> command(Exchange exchange, Caller caller) {
    return exchange.command(
        id ->
            exchange.query(
                start(exchange, "offset", position -> position.isOf(id)),
                start -> command(exchange, caller, id, start)));
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
                        exchange,
                        caller,
                        id.shell(),
                        subject,
                        (shell, commands) -> completed(end(id, shell, commands)),
                        start);
                  }
                  case Shell.Refused(var failure) -> Problems.of(CommandRoutes.named(failure, id));
                });
  }

  private Answer events(
      Exchange exchange,
      Caller caller,
      ShellId shell,
      Telling.Subject subject,
      Follower.Ending ending,
      Start start) {
    var following =
        new Follower.Following(caller.account(), shell, subject, exchange.path(), ending);
    return new Answer.Events(Follower.events(system, environments, following, start.from()));
  }

  private static ByteString end(CommandId id, ShellView shell, List<CommandRecord> commands) {
    return commands.stream()
        .filter(command -> command.id().equals(id))
        .findFirst()
        .map(command -> end("command", ShellJson.ended(command, shell.state())))
        .orElseThrow();
  }

  private static ByteString end(String name, ObjectNode what) {
    return Sse.event("end", Json.object().set(name, what));
  }

  private static CompletionStage<ByteString> completed(ByteString event) {
    return CompletableFuture.completedStage(event);
  }

  /**
   * Where the reader got to, else where it wants to begin.
   *
   * @param given whether the stream has such a position
   */
  private static Function<Query, Start> start(
      Exchange exchange, String name, Predicate<StreamPosition> given) {
    return query -> {
      boolean base64 = query.choice("encoding", BASE64).orElse(false);
      List<String> last = exchange.headers("Last-Event-ID");
      Optional<String> sent =
          last.isEmpty() ? query.text(name) : Optional.of(last.size() == 1 ? last.getFirst() : "");
      Optional<StreamPosition> from = sent.flatMap(StreamPosition::parse).filter(given);
      if (sent.isPresent() && from.isEmpty()) {
        String wanted = "must be an integer, or the id of an event of this stream";
        if (last.isEmpty()) {
          query.fault(name, wanted, "int_parsing");
        } else {
          query.headerFault("Last-Event-ID", wanted, "int_parsing");
        }
      }
      return new Start(from.orElse(StreamPosition.START), base64);
    };
  }
}
