package io.envapi.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.envapi.app.RunningApi;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code docs/routes.md} has every route, and no other. */
class RouteDocsTest {

  private static final Pattern ROUTE = Pattern.compile("`((?:GET|POST|PUT|DELETE) /[^ `]*)`");

  @Test
  void everyRouteIsThere(@TempDir Path root) throws Exception {
    List<String> told =
        Files.readAllLines(Path.of("docs", "routes.md")).stream()
            .filter(line -> line.startsWith("|"))
            .flatMap(line -> ROUTE.matcher(line.split("\\|", -1)[1]).results())
            .map((MatchResult found) -> found.group(1))
            // Served beside the table, where it is configured.
            .filter(route -> !route.equals("GET /metrics"))
            .toList();
    try (RunningApi api = RunningApi.start(root, Map.of())) {
      assertThat(told)
          .containsExactlyInAnyOrderElementsOf(
              api.api.entries().stream()
                  .map(entry -> entry.method() + " " + entry.template())
                  .toList());
    }
  }
}
