package io.envapi.app;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigException;
import com.typesafe.config.ConfigFactory;
import com.typesafe.config.ConfigParseOptions;
import com.typesafe.config.ConfigUtil;
import io.envapi.sandbox.SandboxTier;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Lays the three sources over each other and collects everything that is wrong with them. */
final class SettingsReader {

  /** The root of our section. */
  static final String ROOT = "envapi";

  /** The operator's file. */
  private static final String FILE = Setting.PREFIX + "CONFIG";

  /** Set inside sandboxes and by clients: no settings, and no mistake either. */
  private static final Set<String> FOREIGN =
      Set.of(Setting.PREFIX + "ENVIRONMENT_ID", Setting.PREFIX + "URL");

  private static final Map<String, Setting> BY_VARIABLE =
      Setting.ALL.stream().collect(Collectors.toMap(Setting::variable, Function.identity()));

  private final List<String> problems = new ArrayList<>();

  /** Setting paths that a variable gave, for the wording of problems. */
  private final Map<String, Setting> fromVariables = new HashMap<>();

  List<String> problems() {
    return List.copyOf(problems);
  }

  Config read(Map<String, String> environment) {
    var variables = ours(environment);
    var file = file(variables);
    var overrides = overrides(variables);
    var config =
        overrides
            .withFallback(file)
            .withFallback(ConfigFactory.defaultReferenceUnresolved())
            .resolve();
    for (var setting : Setting.ALL) {
      if (!setting.kind().holds(config, ROOT + "." + setting.path())) {
        problems.add(called(setting) + " must be " + setting.kind().expectation());
      }
    }
    checkPair(config);
    if (problems.isEmpty()) {
      checkTogether(config.getConfig(ROOT));
    }
    return config;
  }

  private Map<String, String> ours(Map<String, String> environment) {
    var found = new TreeMap<String, String>();
    environment.forEach(
        (variable, value) -> {
          var name = variable.toUpperCase(Locale.ROOT);
          if (!name.startsWith(Setting.PREFIX) || FOREIGN.contains(name)) {
            return;
          }
          if (!name.equals(FILE) && !BY_VARIABLE.containsKey(name)) {
            problems.add(variable + " is no setting");
          } else if (found.put(name, value.strip()) != null) {
            problems.add(name + " is set twice, in different spellings");
          }
        });
    problems.sort(String::compareTo);
    return found;
  }

  private Config overrides(Map<String, String> variables) {
    var values = new HashMap<String, Object>();
    variables.forEach(
        (name, value) -> {
          var setting = BY_VARIABLE.get(name);
          if (setting == null) {
            return;
          }
          fromVariables.put(setting.path(), setting);
          setting
              .kind()
              .fromText()
              .apply(value)
              .ifPresentOrElse(
                  parsed -> values.put(ROOT + "." + setting.path(), parsed),
                  () -> problems.add(name + " must be " + setting.kind().expectation()));
        });
    return ConfigFactory.parseMap(values, "variables");
  }

  private Config file(Map<String, String> variables) {
    var name = variables.getOrDefault(FILE, "");
    if (name.isEmpty()) {
      return ConfigFactory.empty();
    }
    try {
      var path = Path.of(name);
      if (!Files.isReadable(path)) {
        problems.add(FILE + " names a file that cannot be read");
        return ConfigFactory.empty();
      }
      var file =
          ConfigFactory.parseFile(
              path.toFile(), ConfigParseOptions.defaults().setAllowMissing(false));
      file = file.resolveWith(file.withFallback(ConfigFactory.defaultReference()).resolve());
      checkNames(file);
      return file;
    } catch (InvalidPathException _) {
      problems.add(FILE + " must be a path");
    } catch (ConfigException e) {
      var line = e.origin() == null ? "" : " (line " + e.origin().lineNumber() + ")";
      problems.add(FILE + " names a file that is not valid HOCON" + line);
    }
    return ConfigFactory.empty();
  }

  /** A misspelt key would otherwise silently leave the default in force. */
  private void checkNames(Config file) {
    if (!file.hasPath(ROOT)) {
      return;
    }
    var known = Setting.ALL.stream().map(Setting::path).collect(Collectors.toSet());
    for (var entry : file.getConfig(ROOT).entrySet()) {
      var path = String.join(".", ConfigUtil.splitPath(entry.getKey()));
      if (!known.contains(path)) {
        problems.add(ROOT + "." + path + " in the file that " + FILE + " names is no setting");
      }
    }
  }

  /** Whatever else is wrong; a half that is itself wrong has been named. */
  private void checkPair(Config config) {
    var pair = Setting.ALL.stream().filter(s -> s.path().startsWith("settings-api.")).toList();
    if (!pair.stream().allMatch(s -> s.kind().holds(config, ROOT + "." + s.path()))) {
      return;
    }
    var envapi = config.getConfig(ROOT);
    if (envapi.getString("settings-api.base-url").isEmpty()
        != envapi.getString("settings-api.token").isEmpty()) {
      problems.add(
          "ENVAPI_SETTINGS_API_BASE_URL and ENVAPI_SETTINGS_API_TOKEN go together: set both or"
              + " neither");
    }
  }

  private void checkTogether(Config envapi) {
    var forced = envapi.getString("sandbox.tier");
    var least = tier(envapi.getString("sandbox.min-tier"));
    if (!forced.isEmpty() && tier(forced).compareTo(least) < 0) {
      problems.add("ENVAPI_SANDBOX_TIER must not be below ENVAPI_MIN_SANDBOX_TIER");
    }
    if (!envapi.getStringList("cluster.seeds").isEmpty()) {
      checkCluster(envapi);
    }
  }

  private void checkCluster(Config envapi) {
    if (envapi.getString("journal.url").isEmpty()) {
      problems.add(
          "ENVAPI_CLUSTER_SEEDS needs ENVAPI_JOURNAL_URL: hosts of a cluster share one PostgreSQL,"
              + " and an embedded journal belongs to one host");
    }
    if (envapi.getInt("cluster.port") == 0) {
      problems.add("ENVAPI_CLUSTER_SEEDS needs a fixed ENVAPI_CLUSTER_PORT");
    }
    if (envapi.getString("cluster.secret").isEmpty()) {
      problems.add("ENVAPI_CLUSTER_SEEDS needs an ENVAPI_CLUSTER_SECRET");
    }
  }

  private static SandboxTier tier(String label) {
    return SandboxTier.valueOf(label.toUpperCase(Locale.ROOT));
  }

  private String called(Setting setting) {
    return fromVariables.containsKey(setting.path())
        ? setting.variable()
        : ROOT + "." + setting.path();
  }
}
