package io.envapi.app;

import io.envapi.account.EnvironmentSpec;
import io.envapi.account.EnvironmentSpec.LimitOverrides;
import io.envapi.audit.AuditLog;
import io.envapi.audit.AuditSettings;
import io.envapi.environment.Environment;
import io.envapi.environment.EnvironmentView;
import io.envapi.failure.Failure;
import io.envapi.failure.Result;
import io.envapi.host.Environments;
import io.envapi.host.Node;
import io.envapi.id.AccountId;
import io.envapi.id.EnvironmentId;
import io.envapi.id.ShellId;
import io.envapi.sandbox.SandboxProbe;
import io.envapi.shell.CommandResult;
import io.envapi.shell.Shell;
import io.envapi.shell.ShellView;
import io.envapi.shell.TerminalSize;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.util.ByteString;

/** The service without its HTTP interface, on a data root, as tests ask it. */
public final class TestService implements AutoCloseable {

  private static final AccountId ACCOUNT = new AccountId("alice");
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final int MOST_OUTPUT = 1 << 20;

  private final DataRoot root;
  private final Service service;
  private final Environments environments;
  private final io.envapi.sandbox.Sandbox sandbox;

  private TestService(
      DataRoot root, Service service, Node.Running node, io.envapi.sandbox.Sandbox sandbox) {
    this.sandbox = sandbox;
    this.root = root;
    this.service = service;
    this.environments = node.environments();
  }

  /**
   * @param variables more {@code ENVAPI_} variables
   */
  public static TestService start(Path directory, Map<String, String> variables)
      throws IOException {
    var all = new java.util.HashMap<>(variables);
    all.put("ENVAPI_ROOT", directory.toString());
    var settings =
        switch (Settings.load(all)) {
          case Settings.Loaded(var loaded) -> loaded;
          case Settings.Invalid invalid -> throw new IllegalStateException(invalid.message());
        };
    var root =
        switch (DataRoot.open(directory)) {
          case DataRoot.Opened(var opened) -> opened;
          case DataRoot.InUse _ -> throw new IllegalStateException("the root is in use");
          case DataRoot.Unusable(var why) -> throw new IllegalStateException(why);
        };
    var sandbox =
        switch (SandboxProbe.probe(settings.sandbox())) {
          case SandboxProbe.Outcome.Chosen(var chosen, var _) -> chosen;
          case SandboxProbe.Outcome.Refused(var message) ->
              throw new IllegalStateException(message);
        };
    Service service =
        Service.start(
            settings,
            root,
            sandbox,
            AuditLog.open(root.directory("audit"), AuditSettings.from(settings.envapi())));
    return new TestService(root, service, await(service.running()), sandbox);
  }

  public io.envapi.sandbox.Sandbox sandbox() {
    return sandbox;
  }

  public EnvironmentId environment() {
    var spec =
        new EnvironmentSpec("personal", "test", Map.of(), List.of(), true, LimitOverrides.NONE);
    return switch (await(environments.create(ACCOUNT, EnvironmentId.random(), spec))) {
      case Result.Ok<EnvironmentView>(var view) -> view.id();
      case Result.Refused<EnvironmentView>(var failure) ->
          throw new IllegalStateException(failure.toString());
    };
  }

  public EnvironmentView describe(EnvironmentId id) {
    return switch (await(environments.describe(ACCOUNT, id))) {
      case Result.Ok<EnvironmentView>(var view) -> view;
      case Result.Refused<EnvironmentView>(var failure) ->
          throw new IllegalStateException(failure.toString());
    };
  }

  public ShellView open(EnvironmentId environment, boolean pty) {
    Optional<TerminalSize> terminal = pty ? Optional.of(TerminalSize.DEFAULT) : Optional.empty();
    var reply =
        await(
            environments.<Environment.OpenReply>environment(
                ACCOUNT,
                environment,
                LONG,
                (place, replyTo) ->
                    new Environment.OpenShell(".", Map.of(), terminal, place.quotas(), replyTo)));
    return switch (reply) {
      case Environment.Opened(var shell) -> shell;
      case Environment.Refused(var failure) -> throw new IllegalStateException(failure.toString());
    };
  }

  /** Runs a command and waits for its end, {@code wait} at the most. */
  public Shell.ExecReply exec(ShellId shell, String command, Duration wait) {
    return exec(shell, command, wait, Optional.empty());
  }

  public Shell.ExecReply exec(
      ShellId shell, String command, Duration wait, Optional<Long> timeoutMs) {
    return await(
        environments.<Shell.ExecReply>shell(
            ACCOUNT,
            shell,
            wait,
            (place, replyTo) ->
                new Shell.Exec(
                    command,
                    wait.toMillis(),
                    timeoutMs,
                    Map.of(),
                    List.of(),
                    new Shell.Window(MOST_OUTPUT, false),
                    false,
                    place.quotas().maxCommandLogBytes(),
                    replyTo)));
  }

  public CommandResult run(ShellId shell, String command) {
    return run(shell, command, Duration.ofSeconds(20));
  }

  public CommandResult run(ShellId shell, String command, Duration wait) {
    return switch (exec(shell, command, wait)) {
      case Shell.Executed(var result) -> result;
      case Shell.Refused(var failure) -> throw new IllegalStateException(failure.toString());
    };
  }

  /** The refusal of a command that is not run. */
  public Failure refusal(ShellId shell, String command) {
    return switch (exec(shell, command, Duration.ZERO)) {
      case Shell.Executed(var result) -> throw new IllegalStateException("it ran: " + result);
      case Shell.Refused(var failure) -> failure;
    };
  }

  public <R> R ask(
      ShellId shell,
      java.util.function.Function<org.apache.pekko.actor.typed.ActorRef<R>, Shell.Request>
          request) {
    return await(
        environments.<R>shell(ACCOUNT, shell, LONG, (place, replyTo) -> request.apply(replyTo)));
  }

  public ShellView shell(ShellId id) {
    return switch (this.<Shell.DescribeReply>ask(id, Shell.Describe::new)) {
      case Shell.Described(var view) -> view;
      case Shell.Refused(var failure) -> throw new IllegalStateException(failure.toString());
    };
  }

  public void stdin(ShellId id, String text, boolean eof) {
    ByteString data = ByteString.fromString(text, StandardCharsets.UTF_8);
    Shell.StdinReply reply =
        ask(
            id,
            replyTo ->
                new Shell.WriteStdin(data, false, OptionalLong.empty(), eof, false, replyTo));
    if (reply instanceof Shell.Refused(var failure)) {
      throw new IllegalStateException(failure.toString());
    }
  }

  public static String text(CommandResult result) {
    return result.output().utf8String();
  }

  static <T> T await(CompletionStage<T> stage) {
    try {
      return stage.toCompletableFuture().get(90, TimeUnit.SECONDS);
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() throws IOException {
    service.system().terminate();
    try {
      service.awaitEnd();
    } catch (SQLException e) {
      throw new IOException(e);
    }
    root.close();
  }
}
