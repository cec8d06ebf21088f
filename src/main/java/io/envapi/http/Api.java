package io.envapi.http;

import io.envapi.audit.AuditLog;
import io.envapi.files.FileSettings;
import io.envapi.host.Accounts;
import io.envapi.host.Environments;
import io.envapi.host.Hosts;
import io.envapi.host.IdempotencyKeys;
import io.envapi.keyring.CredentialClient;
import io.envapi.keyring.TokenVerifier;
import io.envapi.metrics.Metrics;
import io.envapi.preferences.Preferences;
import io.envapi.shell.ShellSettings;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.server.Directives;
import org.apache.pekko.http.javadsl.server.Route;
import org.apache.pekko.stream.Materializer;

/** The whole HTTP interface: every route of every resource. */
public final class Api {

  /** What the interface speaks to. */
  public record Parts(
      Environments environments,
      Hosts hosts,
      Accounts accounts,
      IdempotencyKeys keys,
      TokenVerifier tokens,
      CredentialClient credentials,
      Preferences preferences,
      AuditLog audit,
      Metrics metrics,
      LogLevels logLevels) {}

  /**
   * How it behaves.
   *
   * @param defaultProfile for requests that name none
   */
  public record Configuration(
      HttpSettings http,
      FileSettings files,
      ShellSettings shells,
      String defaultProfile,
      Readiness readiness) {}

  private final RouteTable routes;
  private final Metrics metrics;
  private final Stopping stopping = new Stopping();
  private final Front front;

  public Api(ActorSystem<?> system, Parts parts, Configuration configuration) {
    var gate =
        new Gate(
            configuration.http().apiKeys(),
            parts.tokens(),
            configuration.defaultProfile(),
            configuration.http().load().refusedPerSecond());
    this.metrics = parts.metrics();
    this.routes = routes(system, parts, configuration);
    this.front =
        new Front(
            routes,
            gate,
            new Idempotent(parts.keys())::around,
            configuration.http(),
            stopping,
            parts.metrics(),
            Materializer.createMaterializer(system));
  }

  /** Answers every request, whatever it asks for. */
  public Route route() {
    return Directives.handle(this::handle);
  }

  CompletionStage<HttpResponse> handle(HttpRequest request) {
    return front.handle(request);
  }

  /** Ends the streams of events. */
  Stopping stopping() {
    return stopping;
  }

  Metrics metrics() {
    return metrics;
  }

  /** Every way in. */
  List<RouteTable.Entry> entries() {
    return routes.entries();
  }

  private static RouteTable routes(
      ActorSystem<?> system, Parts parts, Configuration configuration) {
    Environments environments = parts.environments();
    var audited = new Audited(parts.audit(), system);
    var routes = new RouteTable();
    new HealthRoutes(configuration.readiness(), parts.tokens()::status).addTo(routes);
    new EnvironmentRoutes(environments, audited, parts.preferences(), configuration.http())
        .addTo(routes);
    new ShellRoutes(environments, audited, configuration.shells()).addTo(routes);
    new CommandRoutes(environments, configuration.shells()).addTo(routes);
    new ExecRoutes(
            environments,
            new CallerCredentials(environments, parts.credentials()),
            new LiveCommands(system, environments),
            audited,
            configuration.shells())
        .addTo(routes);
    new StreamRoutes(system, environments).addTo(routes);
    new EventRoutes(environments).addTo(routes);
    new ProcessRoutes(environments, audited).addTo(routes);
    new FileRoutes(environments, audited, configuration.files()).addTo(routes);
    new ArchiveRoutes(environments, audited).addTo(routes);
    new WatchRoutes(environments).addTo(routes);
    new RawFileRoutes(environments, audited).addTo(routes);
    new AdminRoutes(environments, parts.hosts(), parts.accounts(), audited).addTo(routes);
    new LogLevelRoutes(parts.logLevels(), audited).addTo(routes);
    new MetricsRoutes(parts.metrics(), configuration.http().metricsToken()).addTo(routes);
    return routes;
  }
}
