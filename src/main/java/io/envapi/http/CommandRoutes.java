package io.envapi.http;

import io.envapi.failure.Failure;
import io.envapi.host.Environments;
import io.envapi.id.CommandId;
import io.envapi.keyring.Caller;
import io.envapi.shell.Shell;
import io.envapi.shell.ShellSettings;
import java.time.Duration;
import java.util.concurrent.CompletionStage;

/** {@code /v1/commands}: what commands were and what they printed. */
final class CommandRoutes {

  private static final int DEFAULT_LOG_BYTES = 1 << 20;

  private record Window(long offset, int maxBytes) {}

  private final Environments environments;
  private final ShellSettings settings;

  CommandRoutes(Environments environments, ShellSettings settings) {
    this.environments = environments;
    this.settings = settings;
  }

  void addTo(RouteTable routes) {
    routes.on("/v1/commands/{command}").get(this::read);
  }

  private CompletionStage<Answer> read(Exchange exchange, Caller caller) {
    return exchange.command(id -> exchange.query(this::window, window -> read(caller, id, window)));
  }

  private Window window(Query query) {
    long wanted = query.integer("max_bytes", DEFAULT_LOG_BYTES, 1, Long.MAX_VALUE);
    return new Window(
        query.integer("offset", 0, 0, Long.MAX_VALUE),
        (int) Math.min(wanted, settings.maxReadBytes()));
  }

  private CompletionStage<Answer> read(Caller caller, CommandId id, Window window) {
    return environments
        .<Shell.CommandReply>shell(
            caller.account(),
            id.shell(),
            Duration.ZERO,
            (_, replyTo) -> new Shell.ReadCommand(id, window.offset(), window.maxBytes(), replyTo))
        .thenApply(
            reply ->
                switch (reply) {
                  case Shell.CommandRead read -> Answer.ok(ShellJson.commandRead(read));
                  case Shell.Refused(var failure) -> Problems.of(named(failure, id));
                });
  }

  /** A command whose shell or environment is not there is itself not there. */
  static Failure named(Failure failure, CommandId id) {
    return failure instanceof Failure.NotFound
        ? new Failure.NotFound(Failure.Kind.COMMAND, id.value())
        : failure;
  }
}
