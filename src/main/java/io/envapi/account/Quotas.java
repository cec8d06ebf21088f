package io.envapi.account;

import com.typesafe.config.Config;
import io.envapi.failure.Failure;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * What an account may use. Sizes in bytes, times in seconds; each bound is positive. Callers and
 * operators know them by the names in {@link #NAMES}.
 */
public record Quotas(
    long maxEnvironmentsPerProfile,
    long maxEnvironmentsPerAccount,
    long maxShellsPerEnvironment,
    long maxProcessesPerShell,
    long maxMemoryBytes,
    long maxFileSizeBytes,
    long maxCpuSeconds,
    long maxDiskBytes,
    long maxOutputBufferBytes,
    long maxCommandLogBytes,
    double environmentIdleTtlSeconds,
    double shellIdleTtlSeconds) {

  /** The names on the wire, in the order in which they are listed. */
  public static final List<String> NAMES =
      List.of(
          "max_environments_per_profile",
          "max_environments_per_account",
          "max_shells_per_environment",
          "max_processes_per_shell",
          "max_memory_bytes",
          "max_file_size_bytes",
          "max_cpu_seconds",
          "max_disk_bytes",
          "max_output_buffer_bytes",
          "max_command_log_bytes",
          "environment_idle_ttl_seconds",
          "shell_idle_ttl_seconds");

  /** The deployment's quotas, from the {@code envapi} section of its settings. */
  public static Quotas from(Config envapi) {
    var values = new LinkedHashMap<String, Number>();
    for (var name : NAMES) {
      values.put(
          name,
          fractional(name) ? envapi.getDouble(path(name)) : (Number) envapi.getBytes(path(name)));
    }
    return of(values);
  }

  /** Where a quota is found below {@code envapi}. */
  public static String path(String name) {
    return "quotas." + name.replace('_', '-');
  }

  /** Whether the quota is a time that may have a fraction; the others are integers. */
  public static boolean fractional(String name) {
    return name.endsWith("_ttl_seconds");
  }

  /** Why {@code value}, as read from JSON, cannot be the quota {@code name}; empty if it can. */
  public static Optional<Failure.InvalidQuota> invalid(String name, Object value) {
    if (!NAMES.contains(name)) {
      return Optional.of(new Failure.InvalidQuota(name, "there is no such quota"));
    }
    var accepted =
        switch (value) {
          case Byte _, Short _, Integer _, Long _ -> ((Number) value).longValue() > 0;
          case BigInteger number -> number.signum() > 0 && number.bitLength() < Long.SIZE;
          case Double number -> fractional(name) && number > 0 && Double.isFinite(number);
          case Float number -> fractional(name) && number > 0 && Float.isFinite(number);
          case BigDecimal number ->
              fractional(name) && number.doubleValue() > 0 && Double.isFinite(number.doubleValue());
          default -> false;
        };
    if (accepted) {
      return Optional.empty();
    }
    var kind = fractional(name) ? "a positive number" : "a positive integer";
    return Optional.of(new Failure.InvalidQuota(name, "must be " + kind));
  }

  /** These quotas with some replaced; each override has passed {@link #invalid}. */
  public Quotas with(Map<String, ? extends Number> overrides) {
    var values = new LinkedHashMap<>(values());
    overrides.forEach(
        (name, value) -> {
          if (invalid(name, value).isPresent()) {
            throw new IllegalArgumentException("not a valid quota: " + name);
          }
          values.put(name, value);
        });
    return of(values);
  }

  /** One quota by its name on the wire: a {@code Double} if {@link #fractional}, else a Long. */
  public Number value(String name) {
    return switch (name) {
      case "max_environments_per_profile" -> maxEnvironmentsPerProfile;
      case "max_environments_per_account" -> maxEnvironmentsPerAccount;
      case "max_shells_per_environment" -> maxShellsPerEnvironment;
      case "max_processes_per_shell" -> maxProcessesPerShell;
      case "max_memory_bytes" -> maxMemoryBytes;
      case "max_file_size_bytes" -> maxFileSizeBytes;
      case "max_cpu_seconds" -> maxCpuSeconds;
      case "max_disk_bytes" -> maxDiskBytes;
      case "max_output_buffer_bytes" -> maxOutputBufferBytes;
      case "max_command_log_bytes" -> maxCommandLogBytes;
      case "environment_idle_ttl_seconds" -> environmentIdleTtlSeconds;
      case "shell_idle_ttl_seconds" -> shellIdleTtlSeconds;
      default -> throw new IllegalArgumentException("no such quota: " + name);
    };
  }

  /** All quotas by their names on the wire, in the order of {@link #NAMES}. */
  public Map<String, Number> values() {
    var values = new LinkedHashMap<String, Number>();
    NAMES.forEach(name -> values.put(name, value(name)));
    return values;
  }

  private static Quotas of(Map<String, Number> values) {
    return new Quotas(
        whole(values, "max_environments_per_profile"),
        whole(values, "max_environments_per_account"),
        whole(values, "max_shells_per_environment"),
        whole(values, "max_processes_per_shell"),
        whole(values, "max_memory_bytes"),
        whole(values, "max_file_size_bytes"),
        whole(values, "max_cpu_seconds"),
        whole(values, "max_disk_bytes"),
        whole(values, "max_output_buffer_bytes"),
        whole(values, "max_command_log_bytes"),
        number(values, "environment_idle_ttl_seconds").doubleValue(),
        number(values, "shell_idle_ttl_seconds").doubleValue());
  }

  private static long whole(Map<String, Number> values, String name) {
    return number(values, name).longValue();
  }

  private static Number number(Map<String, Number> values, String name) {
    return Objects.requireNonNull(values.get(name), name);
  }
}
