package io.envapi.app;

import static io.envapi.app.SettingKind.absolutePath;
import static io.envapi.app.SettingKind.bool;
import static io.envapi.app.SettingKind.bytes;
import static io.envapi.app.SettingKind.directory;
import static io.envapi.app.SettingKind.hostsAndPorts;
import static io.envapi.app.SettingKind.integer;
import static io.envapi.app.SettingKind.list;
import static io.envapi.app.SettingKind.logLevel;
import static io.envapi.app.SettingKind.optionalText;
import static io.envapi.app.SettingKind.optionalUrl;
import static io.envapi.app.SettingKind.positive;
import static io.envapi.app.SettingKind.positiveNumber;
import static io.envapi.app.SettingKind.postgresqlUrl;
import static io.envapi.app.SettingKind.profile;
import static io.envapi.app.SettingKind.seconds;
import static io.envapi.app.SettingKind.serviceName;
import static io.envapi.app.SettingKind.text;
import static io.envapi.app.SettingKind.tier;
import static io.envapi.app.SettingKind.token;
import static io.envapi.app.SettingKind.url;

import io.envapi.account.Quotas;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * One setting: the variable that sets it, without its prefix, its path below {@code envapi}, and
 * what it can be.
 */
record Setting(String name, String path, SettingKind kind) {

  static final String PREFIX = "ENVAPI_";

  private static final long DAY = 86_400;
  private static final long YEAR = 366 * DAY;
  private static final long ONE_ARRAY = 1L << 30;
  private static final long LEAST_AUDIT = 32L << 20;
  private static final long ALL_BYTES = 1L << 50;

  /** Every setting there is. */
  static final List<Setting> ALL =
      Stream.concat(
              Stream.of(
                  new Setting("ROOT", "root", directory()),
                  new Setting("SHUTDOWN_GRACE_SECONDS", "shutdown-grace", seconds(true, 3600)),
                  new Setting("JOURNAL_URL", "journal.url", postgresqlUrl()),
                  new Setting("JOURNAL_USER", "journal.user", optionalText()),
                  new Setting("JOURNAL_PASSWORD", "journal.password", optionalText()),
                  new Setting("CLUSTER_HOST", "cluster.host", text()),
                  new Setting("CLUSTER_BIND_HOST", "cluster.bind-host", optionalText()),
                  new Setting("CLUSTER_PORT", "cluster.port", integer(0, 65_535)),
                  new Setting("CLUSTER_SEEDS", "cluster.seeds", hostsAndPorts()),
                  new Setting("CLUSTER_SECRET", "cluster.secret", token()),
                  new Setting("HTTP_HOST", "http.host", text()),
                  new Setting("HTTP_PORT", "http.port", integer(0, 65_535)),
                  new Setting("API_KEYS", "http.api-keys", items()),
                  new Setting("OPERATOR_ACCOUNTS", "http.operator-accounts", items()),
                  new Setting("MAX_BODY_BYTES", "http.max-body-bytes", bytes(ONE_ARRAY)),
                  new Setting(
                      "REQUEST_TIMEOUT_SECONDS", "http.request-timeout", seconds(false, DAY)),
                  new Setting("ASK_TIMEOUT_SECONDS", "http.ask-timeout", seconds(false, 600)),
                  new Setting(
                      "MAX_REQUESTS_PER_SECOND",
                      "http.max-requests-per-second",
                      integer(0, 1_000_000)),
                  new Setting(
                      "MAX_CONCURRENT_REQUESTS",
                      "http.max-concurrent-requests",
                      integer(0, 1_000_000)),
                  new Setting(
                      "MAX_STREAMS_PER_ACCOUNT",
                      "http.max-streams-per-account",
                      integer(0, 1_000_000)),
                  new Setting(
                      "MAX_REFUSED_PER_SECOND",
                      "http.max-refused-per-second",
                      integer(0, 1_000_000)),
                  new Setting("MAX_CONNECTIONS", "http.max-connections", integer(10, 1_000_000)),
                  new Setting(
                      "MAX_CONNECTIONS_PER_ADDRESS",
                      "http.max-connections-per-address",
                      integer(0, 1_000_000)),
                  new Setting("HEAD_TIMEOUT_SECONDS", "http.head-timeout", seconds(false, 3600)),
                  new Setting("BODY_TIMEOUT_SECONDS", "http.body-timeout", seconds(false, 3600)),
                  new Setting("KEEP_ALIVE_SECONDS", "http.keep-alive", seconds(false, DAY)),
                  new Setting("METRICS_TOKEN", "http.metrics-token", token()),
                  new Setting("KEYRING_BASE_URL", "keyring.base-url", url()),
                  new Setting("KEYRING_ISSUER", "keyring.issuer", text()),
                  new Setting("KEYRING_SERVICE_NAME", "keyring.service-name", serviceName()),
                  new Setting("KEYRING_SERVICE_TOKEN", "keyring.service-token", token()),
                  new Setting("KEYRING_TIMEOUT_SECONDS", "keyring.timeout", seconds(false, 600)),
                  new Setting("JWKS_CACHE_SECONDS", "keyring.jwks-cache", seconds(false, DAY)),
                  new Setting(
                      "JWKS_MIN_REFETCH_SECONDS", "keyring.jwks-min-refetch", seconds(false, 3600)),
                  new Setting("DEFAULT_PROFILE", "keyring.default-profile", profile()),
                  new Setting("SETTINGS_API_BASE_URL", "settings-api.base-url", optionalUrl()),
                  new Setting("SETTINGS_API_TOKEN", "settings-api.token", token()),
                  new Setting("MIN_SANDBOX_TIER", "sandbox.min-tier", tier(false)),
                  new Setting("SANDBOX_TIER", "sandbox.tier", tier(true)),
                  new Setting("ALLOW_NETWORK", "sandbox.allow-network", bool()),
                  new Setting("SHELL_BINARY", "sandbox.shell-binary", absolutePath()),
                  new Setting("UID_BASE", "sandbox.uid-base", integer(1000, 2_000_000_000)),
                  new Setting("UID_COUNT", "sandbox.uid-count", integer(1, 100_000_000)),
                  new Setting(
                      "EXTRA_READ_ONLY_PATHS",
                      "sandbox.extra-read-only-paths",
                      list(":", "absolute paths", path -> Path.of(path).isAbsolute())),
                  new Setting("SHELL_CLOSE_GRACE_SECONDS", "shell.close-grace", seconds(true, 600)),
                  new Setting(
                      "REAPER_INTERVAL_SECONDS", "shell.reaper-interval", seconds(false, YEAR)),
                  new Setting("SPARE_SHELLS", "shell.spares", integer(0, 10_000)),
                  new Setting("MAX_LIVE_SHELLS", "shell.max-live", integer(0, 1_000_000)),
                  new Setting("MAX_FILE_READ_BYTES", "files.max-read-bytes", bytes(ONE_ARRAY)),
                  new Setting("MAX_FILE_WRITE_BYTES", "files.max-write-bytes", bytes(ONE_ARRAY)),
                  new Setting(
                      "AUDIT_RETENTION_SECONDS", "audit.retention", seconds(false, 10 * YEAR)),
                  new Setting("AUDIT_MAX_BYTES", "audit.max-bytes", bytes(LEAST_AUDIT, ALL_BYTES)),
                  new Setting("LOG_JSON", "log.json", bool()),
                  new Setting("LOG_LEVEL", "log.level", logLevel())),
              Quotas.NAMES.stream().map(Setting::quota))
          .toList();

  String variable() {
    return PREFIX + name;
  }

  private static SettingKind items() {
    return list(",", "a list without empty items", _ -> true);
  }

  private static Setting quota(String quota) {
    return new Setting(
        quota.toUpperCase(Locale.ROOT),
        Quotas.path(quota),
        Quotas.fractional(quota) ? positiveNumber() : positive());
  }
}
