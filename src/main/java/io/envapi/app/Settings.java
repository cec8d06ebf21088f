package io.envapi.app;

import com.typesafe.config.Config;
import io.envapi.account.Quotas;
import io.envapi.files.FileSettings;
import io.envapi.http.HttpSettings;
import io.envapi.sandbox.SandboxSettings;
import io.envapi.shell.ShellSettings;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * Everything the service was told at its start: one record for each feature.
 *
 * @param config the whole configuration, that of Pekko included: {@code reference.conf}, over it
 *     the operator's file, over that the {@code ENVAPI_*} variables. Holds secrets.
 * @param shutdownGrace how long requests in progress may take to end
 */
public record Settings(
    Config config,
    HttpSettings http,
    SandboxSettings sandbox,
    ShellSettings shell,
    FileSettings files,
    Quotas quotas,
    LogSettings log,
    ClusterSettings cluster,
    Duration shutdownGrace) {

  /** What reading the settings came to. */
  public sealed interface Outcome {}

  public record Loaded(Settings settings) implements Outcome {}

  /** One line for each problem; each names what is wrong and none shows a value. */
  public record Invalid(List<String> problems) implements Outcome {
    public Invalid {
      problems = List.copyOf(problems);
    }

    /** All problems in one line. */
    public String message() {
      return "the settings are not valid: " + String.join("; ", problems);
    }
  }

  /** Reads the settings. {@code environment} is the process's: other variables are ignored. */
  public static Outcome load(Map<String, String> environment) {
    var reader = new SettingsReader();
    var config = reader.read(environment);
    return reader.problems().isEmpty() ? new Loaded(of(config)) : new Invalid(reader.problems());
  }

  /** The {@code envapi} section, from which each feature's record is made. */
  public Config envapi() {
    return config.getConfig(SettingsReader.ROOT);
  }

  /** Without the configuration, which holds secrets, and without paths of the host. */
  @Override
  public String toString() {
    return "Settings[%s]".formatted(http);
  }

  private static Settings of(Config config) {
    var envapi = config.getConfig(SettingsReader.ROOT);
    return new Settings(
        config,
        HttpSettings.from(envapi),
        SandboxSettings.from(envapi),
        ShellSettings.from(envapi),
        FileSettings.from(envapi),
        Quotas.from(envapi),
        LogSettings.from(envapi),
        ClusterSettings.from(envapi),
        envapi.getDuration("shutdown-grace"));
  }
}
