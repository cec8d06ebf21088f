package io.envapi.account;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.typesafe.config.ConfigFactory;
import io.envapi.failure.Failure;
import java.math.BigInteger;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.ValueSource;

class QuotasTest {

  private static final Quotas DEFAULTS =
      Quotas.from(ConfigFactory.defaultReference().getConfig("envapi"));

  static final List<String> names = Quotas.NAMES;

  static final List<Object> notPositiveNumbers =
      List.of(
          0, -1, 0.0, -0.5, true, "5", List.of(), Map.of(), Double.NaN, Double.NEGATIVE_INFINITY);

  @Test
  void thereAreTwelve() {
    assertThat(Quotas.NAMES).hasSize(12).doesNotHaveDuplicates();
    assertThat(DEFAULTS.values().keySet()).containsExactlyElementsOf(Quotas.NAMES);
  }

  @ParameterizedTest
  @FieldSource("names")
  void anOverrideChangesThatOneAlone(String name) {
    var changed = DEFAULTS.with(Map.of(name, 7));
    for (var each : Quotas.NAMES) {
      if (each.equals(name)) {
        assertThat(changed.value(each).doubleValue()).isEqualTo(7);
      } else {
        assertThat(changed.value(each)).isEqualTo(DEFAULTS.value(each));
      }
    }
  }

  @Test
  void noOverrideChangesNothing() {
    assertThat(DEFAULTS.with(Map.of())).isEqualTo(DEFAULTS);
  }

  @Test
  void aTimeToLiveMayHaveAFraction() {
    assertThat(Quotas.invalid("shell_idle_ttl_seconds", 0.5)).isEmpty();
    assertThat(DEFAULTS.with(Map.of("shell_idle_ttl_seconds", 0.5)).shellIdleTtlSeconds())
        .isEqualTo(0.5);
    assertThat(Quotas.invalid("max_cpu_seconds", 0.5)).isPresent();
  }

  @ParameterizedTest
  @FieldSource("notPositiveNumbers")
  void onlyPositiveNumbersAreAccepted(Object value) {
    for (var name : Quotas.NAMES) {
      assertThat(Quotas.invalid(name, value))
          .get()
          .extracting(Failure.InvalidQuota::quota)
          .isEqualTo(name);
    }
  }

  @Test
  void integersOfAnySizeAreCompared() {
    assertThat(Quotas.invalid("max_disk_bytes", Long.MAX_VALUE)).isEmpty();
    assertThat(Quotas.invalid("max_disk_bytes", BigInteger.TEN.pow(30))).isPresent();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "max_shells", "MAX_CPU_SECONDS", "max-cpu-seconds"})
  void anUnknownNameIsRefused(String name) {
    assertThat(Quotas.invalid(name, 1))
        .contains(new Failure.InvalidQuota(name, "there is no such quota"));
    assertThatThrownBy(() -> DEFAULTS.with(Map.of(name, 1)))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
