package io.envapi.http;

import io.envapi.metrics.Metrics;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.util.ByteString;

/** {@code /metrics}, for who has the token of it; not there at all unless one is set. */
final class MetricsRoutes {

  private static final String SCHEME = "Bearer ";

  private final Metrics metrics;
  private final String token;

  MetricsRoutes(Metrics metrics, String token) {
    this.metrics = metrics;
    this.token = token;
  }

  void addTo(RouteTable routes) {
    if (!token.isEmpty()) {
      routes.on("/metrics").getOpen(this::metrics);
    }
  }

  private CompletionStage<Answer> metrics(Exchange exchange) {
    List<String> sent = exchange.headers("Authorization");
    if (sent.size() != 1 || !isToken(sent.getFirst())) {
      return Problems.unauthorized().now();
    }
    ByteString text = ByteString.fromString(metrics.text(), StandardCharsets.UTF_8);
    return new Answer.Bytes(
            200, Metrics.MEDIA_TYPE, List.of(), OptionalLong.of(text.size()), Source.single(text))
        .now();
  }

  private boolean isToken(String sent) {
    return sent.regionMatches(true, 0, SCHEME, 0, SCHEME.length())
        && MessageDigest.isEqual(
            token.getBytes(StandardCharsets.UTF_8),
            sent.substring(SCHEME.length()).getBytes(StandardCharsets.UTF_8));
  }
}
