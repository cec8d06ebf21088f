package io.envapi.app;

import io.envapi.audit.AuditLog;
import io.envapi.audit.AuditSettings;
import io.envapi.host.Node;
import io.envapi.http.Api;
import io.envapi.http.HttpServer;
import io.envapi.http.HttpSettings;
import io.envapi.http.Readiness;
import io.envapi.keyring.Keyring;
import io.envapi.keyring.KeyringSettings;
import io.envapi.preferences.Preferences;
import io.envapi.preferences.PreferencesSettings;
import io.envapi.sandbox.Sandbox;
import io.envapi.sandbox.SandboxProbe;
import java.io.IOException;
import java.net.BindException;
import java.sql.SQLException;
import java.util.concurrent.CompletionStage;
import org.flywaydb.core.api.FlywayException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Starts the service; ends with status 1 and one line when it cannot. */
public final class Main {

  private static final Logger LOG = LoggerFactory.getLogger(Main.class);

  private Main() {}

  public static void main(String[] arguments) throws IOException, SQLException {
    switch (Settings.load(System.getenv())) {
      case Settings.Invalid invalid -> fail(invalid.message());
      case Settings.Loaded(var settings) -> start(settings);
    }
  }

  private static void start(Settings settings) throws IOException, SQLException {
    LogSetup.apply(settings.log());
    switch (DataRoot.open(settings.sandbox().root())) {
      case DataRoot.InUse(var holder) ->
          fail(
              "the data root is in use by another service"
                  + holder.map(pid -> ", process " + pid).orElse("")
                  + ": stop that one, or set ENVAPI_ROOT to another directory");
      case DataRoot.Unusable(var why) -> fail(why);
      case DataRoot.Opened(var root) -> run(settings, root);
    }
  }

  private static void run(Settings settings, DataRoot root) throws IOException, SQLException {
    switch (SandboxProbe.probe(settings.sandbox())) {
      case SandboxProbe.Outcome.Refused(var message) -> fail(message);
      case SandboxProbe.Outcome.Chosen(var sandbox, var _) -> serve(settings, root, sandbox);
    }
  }

  private static void serve(Settings settings, DataRoot root, Sandbox sandbox)
      throws IOException, SQLException {
    Keyring keyring = Keyring.open(KeyringSettings.from(settings.envapi()));
    Preferences preferences =
        Preferences.open(
            PreferencesSettings.from(settings.envapi()),
            KeyringSettings.from(settings.envapi()).defaultProfile());
    AuditLog audit = AuditLog.open(root.directory("audit"), AuditSettings.from(settings.envapi()));
    Service service;
    try {
      service = Service.start(settings, root, sandbox, audit);
    } catch (FlywayException e) {
      LOG.error("the journal cannot be opened", e);
      fail("the journal cannot be opened: the log says why");
      return;
    } catch (Service.JournalInUse e) {
      fail(
          "another host uses this journal: set ENVAPI_CLUSTER_SEEDS on both to join them, or give"
              + " this one a database or schema of its own");
      return;
    }
    Shutdown.onSignals(service.system());
    service
        .running()
        .thenCompose(node -> listen(settings, service, node, keyring, preferences, audit, sandbox))
        .whenComplete(
            (http, failure) -> {
              if (failure == null) {
                LOG.info(
                    "listening on http:/{}, sandbox tier {}",
                    http.localAddress(),
                    sandbox.tier().label());
              } else {
                notStarted(failure, settings.http());
              }
            });
    boolean ordered = service.awaitEnd();
    keyring.close();
    preferences.close();
    audit.close();
    root.close();
    if (!ordered) {
      fail("the other hosts of the cluster go on without this one: start it again to join them");
    }
    LOG.info("ended");
    System.exit(0);
  }

  private static void notStarted(Throwable failure, HttpSettings http) {
    for (Throwable each = failure; each != null; each = each.getCause()) {
      if (each instanceof BindException) {
        fail("cannot listen on %s:%d: %s".formatted(http.host(), http.port(), each.getMessage()));
        return;
      }
    }
    LOG.error("the service could not start", failure);
    fail("the service could not start: " + failure.getMessage());
  }

  private static CompletionStage<HttpServer> listen(
      Settings settings,
      Service service,
      Node.Running node,
      Keyring keyring,
      Preferences preferences,
      AuditLog audit,
      Sandbox sandbox) {
    Api api = api(settings, service, node, keyring, preferences, audit, sandbox);
    return HttpServer.start(service.system(), api, settings.http())
        .thenApply(
            http -> {
              new Shutdown(service, http, settings.shutdownGrace(), settings.shell().closeGrace())
                  .register();
              return http;
            });
  }

  /** The HTTP interface on a running node. */
  static Api api(
      Settings settings,
      Service service,
      Node.Running node,
      Keyring keyring,
      Preferences preferences,
      AuditLog audit,
      Sandbox sandbox) {
    var readiness =
        new Readiness(
            sandbox.tier(),
            settings.sandbox().minTier(),
            sandbox.layers(),
            settings.sandbox().allowNetwork());
    return new Api(
        service.system(),
        new Api.Parts(
            node.environments(),
            node.hosts(),
            node.accounts(),
            node.keys(),
            keyring.tokens(),
            keyring.credentials(),
            preferences,
            audit,
            service.metrics(),
            LoggerLevels.ofProcess()),
        new Api.Configuration(
            settings.http(),
            settings.files(),
            settings.shell(),
            KeyringSettings.from(settings.envapi()).defaultProfile(),
            readiness));
  }

  private static void fail(String message) {
    System.err.println("envapi: " + message);
    System.exit(1);
  }
}
