package io.envapi.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.envapi.account.Quotas;
import io.envapi.id.AccountId;
import io.envapi.sandbox.SandboxTier;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SettingsTest {

  private static final String LONG_ENOUGH = "0123456789abcdef0123456789abcdef";

  @TempDir Path directory;

  @Test
  void theDefaultsAreThoseOfTheContract() {
    var settings = loaded(Map.of());
    assertThat(settings.http().host()).isEqualTo("127.0.0.1");
    assertThat(settings.http().port()).isEqualTo(8008);
    assertThat(settings.http().apiKeys()).isEmpty();
    assertThat(settings.http().operatorAccounts()).isEmpty();
    assertThat(settings.http().maxBodyBytes()).isEqualTo(50 << 20);
    assertThat(settings.http().requestTimeout()).isGreaterThan(Duration.ofSeconds(600));
    assertThat(settings.http().allowNetwork()).isTrue();
    assertThat(settings.sandbox().root()).isEqualTo(Path.of("data").toAbsolutePath());
    assertThat(settings.sandbox().minTier()).isEqualTo(SandboxTier.DIRECTORY);
    assertThat(settings.sandbox().forcedTier()).isEmpty();
    assertThat(settings.sandbox().shellBinary()).isEqualTo(Path.of("/bin/bash"));
    assertThat(settings.sandbox().uidBase()).isEqualTo(200_000);
    assertThat(settings.sandbox().uidCount()).isEqualTo(100_000);
    assertThat(settings.sandbox().extraReadOnlyPaths()).isEmpty();
    assertThat(settings.sandbox().allowNetwork()).isTrue();
    assertThat(settings.shell().closeGrace()).isEqualTo(Duration.ofSeconds(5));
    assertThat(settings.shell().reaperInterval()).isEqualTo(Duration.ofSeconds(60));
    assertThat(settings.shell().maxReadBytes()).isEqualTo(1 << 20);
    assertThat(settings.files().maxReadBytes()).isEqualTo(1 << 20);
    assertThat(settings.files().maxWriteBytes()).isEqualTo(16 << 20);
    assertThat(settings.log()).isEqualTo(new LogSettings(true, "INFO"));
    assertThat(settings.shutdownGrace()).isEqualTo(Duration.ofSeconds(10));
    assertThat(settings.quotas())
        .isEqualTo(
            new Quotas(
                5, 20, 8, 256, 2L << 30, 512 << 20, 900, 5L << 30, 1 << 20, 32 << 20, 86_400,
                3_600));
  }

  @Test
  void theDefaultsOfTheKeyringAreThoseOfTheContract() {
    var keyring = loaded(Map.of()).envapi().getConfig("keyring");
    assertThat(keyring.getString("base-url")).isEqualTo("http://127.0.0.1:8001");
    assertThat(keyring.getString("issuer")).isEqualTo("http://127.0.0.1:8001");
    assertThat(keyring.getString("service-name")).isEqualTo("environments-api");
    assertThat(keyring.getString("service-token")).isEmpty();
    assertThat(keyring.getDuration("timeout")).isEqualTo(Duration.ofSeconds(5));
    assertThat(keyring.getDuration("jwks-cache")).isEqualTo(Duration.ofSeconds(3600));
    assertThat(keyring.getDuration("jwks-min-refetch")).isEqualTo(Duration.ofSeconds(60));
    assertThat(keyring.getString("default-profile")).isEqualTo("personal");
  }

  @Test
  void everySettingHasADefaultAndEveryDefaultIsASetting() {
    assertThat(pathsOf(ConfigFactory.defaultReference().getConfig("envapi")))
        .containsExactlyInAnyOrderElementsOf(Setting.ALL.stream().map(Setting::path).toList());
  }

  @Test
  void theOperatorsFileShowsEverySettingWithItsDefault() throws IOException {
    var shown =
        Files.readString(Path.of("conf/envapi.conf"))
            .replaceAll("(?m)^( *)#(?=[a-z0-9-]+ = )", "$1");
    assertThat(ConfigFactory.parseString(shown).getConfig("envapi").root())
        .isEqualTo(ConfigFactory.defaultReference().getConfig("envapi").root());
  }

  @Test
  void aVariableIsNamedBesideEverySetting() throws IOException {
    var text = Files.readString(Path.of("conf/envapi.conf"));
    var unnamed =
        Setting.ALL.stream()
            .filter(setting -> !setting.path().startsWith("quotas."))
            .map(Setting::name)
            .filter(name -> !text.matches("(?s).*\\b" + name + "\\b.*"));
    assertThat(unnamed).isEmpty();
  }

  @Test
  void variablesWinInAnyCase() {
    var settings =
        loaded(
            Map.of(
                "envapi_http_port", " 9000 ",
                "ENVAPI_API_KEYS", "one, two",
                "ENVAPI_OPERATOR_ACCOUNTS", "ops",
                "ENVAPI_LOG_JSON", "0",
                "ENVAPI_LOG_LEVEL", "warning",
                "ENVAPI_SHELL_CLOSE_GRACE_SECONDS", "0.25",
                "ENVAPI_SHELL_IDLE_TTL_SECONDS", "1.5",
                "ENVAPI_MAX_MEMORY_BYTES", "1000",
                "ENVAPI_SANDBOX_TIER", "User",
                "ENVAPI_EXTRA_READ_ONLY_PATHS", "/opt:/srv/tools/../x"));
    assertThat(settings.http().port()).isEqualTo(9000);
    assertThat(settings.http().apiKeys()).containsExactly("one", "two");
    assertThat(settings.http().operatorAccounts()).containsExactly(new AccountId("ops"));
    assertThat(settings.log()).isEqualTo(new LogSettings(false, "WARN"));
    assertThat(settings.shell().closeGrace()).isEqualTo(Duration.ofMillis(250));
    assertThat(settings.quotas().shellIdleTtlSeconds()).isEqualTo(1.5);
    assertThat(settings.quotas().maxMemoryBytes()).isEqualTo(1000);
    assertThat(settings.sandbox().forcedTier()).isEqualTo(Optional.of(SandboxTier.USER));
    assertThat(settings.sandbox().extraReadOnlyPaths())
        .containsExactly(Path.of("/opt"), Path.of("/srv/x"));
  }

  @Test
  void theFileIsLaidOverTheDefaultsAndUnderTheVariables() throws IOException {
    var file = directory.resolve("envapi.conf");
    Files.writeString(
        file,
        """
        envapi { http { port = 9001, host = "0.0.0.0" }, quotas.max-disk-bytes = 7 GiB }
        pekko.loglevel = "WARNING"
        """);
    var settings = loaded(Map.of("ENVAPI_CONFIG", file.toString(), "ENVAPI_HTTP_PORT", "9002"));
    assertThat(settings.http().host()).isEqualTo("0.0.0.0");
    assertThat(settings.http().port()).isEqualTo(9002);
    assertThat(settings.quotas().maxDiskBytes()).isEqualTo(7L << 30);
    assertThat(settings.config().getString("pekko.loglevel")).isEqualTo("WARNING");
  }

  @Test
  void theFileIsCheckedLikeTheVariables() throws IOException {
    var file = directory.resolve("envapi.conf");
    Files.writeString(file, "envapi { http.port = 70000, http.prot = 1, sandbox.tier = jail }");
    assertThat(problems(Map.of("ENVAPI_CONFIG", file.toString())))
        .containsExactlyInAnyOrder(
            "envapi.http.prot in the file that ENVAPI_CONFIG names is no setting",
            "envapi.http.port must be an integer from 0 to 65535",
            "envapi.sandbox.tier must be one of directory, user, namespace, or empty");
  }

  @Test
  void aFileThatCannotBeUsedIsAProblem() throws IOException {
    var broken = directory.resolve("broken.conf");
    Files.writeString(broken, "envapi {\n  http {");
    assertThat(problems(Map.of("ENVAPI_CONFIG", broken.toString())))
        .singleElement()
        .asString()
        .startsWith("ENVAPI_CONFIG names a file that is not valid HOCON");
    assertThat(problems(Map.of("ENVAPI_CONFIG", directory.resolve("none").toString())))
        .containsExactly("ENVAPI_CONFIG names a file that cannot be read");
  }

  @Test
  void everyProblemIsNamedAtOnceAndNoValueIsShown() {
    var outcome =
        Settings.load(
            Map.of(
                "ENVAPI_HTPP_PORT", "secret-1",
                "Envapi_Keyring_Service_Token", "secret-2",
                "ENVAPI_LOG_JSON", "secret-3",
                "ENVAPI_MAX_DISK_BYTES", "secret-4"));
    assertThat(outcome)
        .asInstanceOf(type(Settings.Invalid.class))
        .extracting(Settings.Invalid::message)
        .asString()
        .contains("ENVAPI_HTPP_PORT is no setting")
        .contains("ENVAPI_KEYRING_SERVICE_TOKEN must be empty, or 32 characters or more")
        .contains("ENVAPI_LOG_JSON must be true or false")
        .contains("ENVAPI_MAX_DISK_BYTES must be a positive integer")
        .doesNotContain("secret")
        .doesNotContain("\n");
  }

  @Test
  void aClusterNeedsASharedJournalAPortAndASecret() {
    assertThat(problems(Map.of("ENVAPI_CLUSTER_SEEDS", "a:7355")))
        .hasSize(3)
        .anySatisfy(problem -> assertThat(problem).contains("needs ENVAPI_JOURNAL_URL"))
        .anySatisfy(problem -> assertThat(problem).contains("a fixed ENVAPI_CLUSTER_PORT"))
        .anySatisfy(problem -> assertThat(problem).contains("an ENVAPI_CLUSTER_SECRET"));
    var complete =
        Map.of(
            "ENVAPI_CLUSTER_SEEDS", "10.0.0.11:7355, [fd00::1]:7355",
            "ENVAPI_CLUSTER_HOST", "10.0.0.11",
            "ENVAPI_CLUSTER_PORT", "7355",
            "ENVAPI_CLUSTER_SECRET", LONG_ENOUGH,
            "ENVAPI_JOURNAL_URL", "jdbc:postgresql://db/x");
    assertThat(Settings.load(complete))
        .isInstanceOfSatisfying(
            Settings.Loaded.class,
            loaded -> {
              var cluster = loaded.settings().cluster();
              assertThat(cluster.bindHost()).isEqualTo("10.0.0.11");
              assertThat(cluster.addresses("envapi"))
                  .hasToString("[pekko://envapi@10.0.0.11:7355, pekko://envapi@[fd00::1]:7355]");
              assertThat(loaded.settings().toString()).doesNotContain(LONG_ENOUGH);
            });
  }

  @Test
  void halfAPairIsAProblem() {
    assertThat(problems(Map.of("ENVAPI_SETTINGS_API_TOKEN", LONG_ENOUGH)))
        .singleElement()
        .asString()
        .contains("ENVAPI_SETTINGS_API_BASE_URL and ENVAPI_SETTINGS_API_TOKEN go together");
    assertThat(problems(Map.of("ENVAPI_SETTINGS_API_BASE_URL", "http://settings"))).hasSize(1);
    assertThat(
            problems(Map.of("ENVAPI_SETTINGS_API_TOKEN", LONG_ENOUGH, "ENVAPI_HTTP_PORT", "many")))
        .hasSize(2);
    assertThat(problems(Map.of("ENVAPI_SETTINGS_API_TOKEN", "short"))).hasSize(1);
    assertThat(
            problems(
                Map.of(
                    "ENVAPI_SETTINGS_API_BASE_URL",
                    "http://settings",
                    "ENVAPI_SETTINGS_API_TOKEN",
                    LONG_ENOUGH)))
        .isEmpty();
  }

  @Test
  void aForcedTierBelowTheLeastOneIsAProblem() {
    assertThat(
            problems(Map.of("ENVAPI_SANDBOX_TIER", "directory", "ENVAPI_MIN_SANDBOX_TIER", "user")))
        .containsExactly("ENVAPI_SANDBOX_TIER must not be below ENVAPI_MIN_SANDBOX_TIER");
  }

  @Test
  void variablesOfOthersAreLeftAlone() {
    assertThat(
            problems(
                Map.of("ENVAPI_ENVIRONMENT_ID", "x", "envapi_url", "y", "ENVAPI", "z", "A", "b")))
        .isEmpty();
  }

  @Test
  void oneVariableInTwoSpellingsIsAProblem() {
    assertThat(problems(Map.of("ENVAPI_ROOT", "a", "envapi_root", "b")))
        .containsExactly("ENVAPI_ROOT is set twice, in different spellings");
  }

  @ParameterizedTest
  @CsvSource({
    "ROOT, /",
    "ROOT, ''",
    "CLUSTER_PORT, 65536",
    "CLUSTER_SEEDS, db",
    "CLUSTER_SEEDS, 'a:1,,b:2'",
    "CLUSTER_SEEDS, 'http://a:1'",
    "CLUSTER_SECRET, short",
    "JOURNAL_URL, jdbc:h2:mem:x",
    "JOURNAL_URL, jdbc:postgresql://db/x?user=me",
    "JOURNAL_URL, jdbc:postgresql://db/x?ssl=true&password=secret",
    "JOURNAL_URL, jdbc:postgresql://me:secret@db/x",
    "HTTP_PORT, 65536",
    "HTTP_PORT, -1",
    "HTTP_PORT, 80a",
    "HTTP_PORT, ''",
    "HTTP_HOST, ''",
    "API_KEYS, 'a,,b'",
    "API_KEYS, 'a,'",
    "OPERATOR_ACCOUNTS, ','",
    "KEYRING_BASE_URL, keyring:8001",
    "KEYRING_BASE_URL, ftp://keyring",
    "KEYRING_BASE_URL, /x",
    "KEYRING_BASE_URL, http://me:pw@keyring",
    "KEYRING_ISSUER, ''",
    "KEYRING_SERVICE_NAME, a.b",
    "KEYRING_SERVICE_NAME, ''",
    "KEYRING_SERVICE_TOKEN, 0123456789abcdef0123456789abcde",
    "KEYRING_TIMEOUT_SECONDS, 0",
    "JWKS_CACHE_SECONDS, 0",
    "JWKS_CACHE_SECONDS, 86400.5",
    "JWKS_MIN_REFETCH_SECONDS, 3601",
    "JWKS_MIN_REFETCH_SECONDS, 5s",
    "DEFAULT_PROFILE, Personal",
    "DEFAULT_PROFILE, ''",
    "MIN_SANDBOX_TIER, ''",
    "MIN_SANDBOX_TIER, jail",
    "ALLOW_NETWORK, yes",
    "SHELL_BINARY, bash",
    "LOG_LEVEL, LOUD",
    "LOG_JSON, ''",
    "AUDIT_RETENTION_SECONDS, 0",
    "AUDIT_MAX_BYTES, 33554431",
    "MAX_FILE_READ_BYTES, 0",
    "MAX_FILE_WRITE_BYTES, 1e6",
    "MAX_PROCESSES_PER_SHELL, 0",
    "MAX_CPU_SECONDS, 1.5",
    "MAX_DISK_BYTES, 9999999999999999999",
    "SHELL_IDLE_TTL_SECONDS, 0",
    "ENVIRONMENT_IDLE_TTL_SECONDS, NaN",
    "REAPER_INTERVAL_SECONDS, 0",
    "SHELL_CLOSE_GRACE_SECONDS, -1",
    "EXTRA_READ_ONLY_PATHS, opt",
    "UID_BASE, 0",
    "UID_COUNT, 0"
  })
  void aBadValueIsRefused(String name, String value) {
    assertThat(problems(Map.of("ENVAPI_" + name, value)))
        .singleElement()
        .asString()
        .startsWith("ENVAPI_" + name + " must be ");
  }

  @ParameterizedTest
  @CsvSource({
    "JOURNAL_URL, jdbc:postgresql://db.example:5432/envapi?currentSchema=a&ssl=true",
    "JWKS_CACHE_SECONDS, 86400",
    "JWKS_CACHE_SECONDS, 0.001",
    "SHELL_CLOSE_GRACE_SECONDS, 0",
    "API_KEYS, ''",
    "KEYRING_SERVICE_TOKEN, ''",
    "ALLOW_NETWORK, FALSE",
    "SANDBOX_TIER, ''",
    "KEYRING_BASE_URL, https://keyring.example/base",
    "AUDIT_MAX_BYTES, 33554432",
    "HTTP_PORT, 0"
  })
  void aValueAtTheEdgeIsAccepted(String name, String value) {
    assertThat(problems(Map.of("ENVAPI_" + name, value))).isEmpty();
  }

  @Test
  void secretsAreInNoText() {
    var settings =
        loaded(
            Map.of("ENVAPI_API_KEYS", "hidden-key", "ENVAPI_KEYRING_SERVICE_TOKEN", LONG_ENOUGH));
    assertThat(settings.toString()).doesNotContain("hidden-key").doesNotContain(LONG_ENOUGH);
  }

  private static List<String> problems(Map<String, String> environment) {
    return switch (Settings.load(environment)) {
      case Settings.Loaded _ -> List.of();
      case Settings.Invalid(var problems) -> problems;
    };
  }

  private static Settings loaded(Map<String, String> environment) {
    return switch (Settings.load(environment)) {
      case Settings.Loaded(var settings) -> settings;
      case Settings.Invalid invalid -> throw new AssertionError(invalid.message());
    };
  }

  private static List<String> pathsOf(Config config) {
    return config.entrySet().stream().map(Map.Entry::getKey).collect(Collectors.toList());
  }
}
