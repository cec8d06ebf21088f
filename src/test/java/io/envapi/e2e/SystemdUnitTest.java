package io.envapi.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.typesafe.config.ConfigFactory;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** The unit file an operator would install. */
class SystemdUnitTest {

  private static final Path UNIT = Path.of("conf/envapi.service");
  private static final Path ANALYZE = Path.of("/usr/bin/systemd-analyze");

  /** Out of ten, ten being the worst; what a sandbox needs costs about five. */
  private static final double MOST_EXPOSED = 5.5;

  private record Ended(int status, String output) {}

  @Test
  void systemdFindsNothingWrong() throws Exception {
    Ended ended = analyze("verify", UNIT.toAbsolutePath().toString());

    assertThat(ended.output()).isEmpty();
    assertThat(ended.status()).isZero();
  }

  @Test
  void itIsNoMoreExposedThanItHasToBe() throws Exception {
    Ended ended =
        analyze(
            "security",
            "--offline=true",
            "--no-pager",
            "--threshold=" + Math.round(MOST_EXPOSED * 10),
            UNIT.toAbsolutePath().toString());

    assertThat(ended.status()).as(ended.output()).isZero();
    Matcher level = Pattern.compile("exposure level.*: ([0-9.]+)").matcher(ended.output());
    assertThat(level.find()).as(ended.output()).isTrue();
    assertThat(Double.parseDouble(level.group(1))).isLessThanOrEqualTo(MOST_EXPOSED);
  }

  @Test
  void itWaitsLongerThanTheServiceTakesToEnd() throws IOException {
    Duration grace = ConfigFactory.defaultReference().getDuration("envapi.shutdown-grace");

    assertThat(Duration.ofSeconds(Long.parseLong(value("TimeoutStopSec"))))
        .isGreaterThan(grace.plusSeconds(5));
    assertThat(value("KillMode")).isEqualTo("mixed");
  }

  @Test
  void itLeavesTheSandboxWhatItNeeds() throws IOException {
    assertThat(value("Delegate")).isEqualTo("yes");
    assertThat(value("OOMPolicy")).isEqualTo("continue");
    assertThat(value("RestrictNamespaces")).isEqualTo("no");
    assertThat(value("ProtectControlGroups")).isEqualTo("no");
    // Each of these mounts over a part of /proc.
    assertThat(value("ProtectKernelTunables")).isEqualTo("no");
    assertThat(value("ProtectKernelLogs")).isEqualTo("no");
    assertThat(value("ProcSubset")).isEqualTo("all");
  }

  private static String value(String name) throws IOException {
    List<String> values =
        Files.readAllLines(UNIT).stream()
            .filter(line -> line.startsWith(name + "="))
            .map(line -> line.substring(name.length() + 1))
            .toList();
    assertThat(values).as(name).hasSize(1);
    return values.getFirst();
  }

  private static Ended analyze(String... arguments) throws Exception {
    Assumptions.assumeTrue(Files.isExecutable(ANALYZE), "systemd-analyze is not installed");
    var command = new java.util.ArrayList<>(List.of(ANALYZE.toString()));
    command.addAll(List.of(arguments));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return new Ended(process.waitFor(), output);
  }
}
