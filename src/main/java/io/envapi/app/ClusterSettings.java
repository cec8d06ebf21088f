package io.envapi.app;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.envapi.files.FileSettings;
import io.envapi.http.HttpSettings;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.pekko.actor.Address;

/**
 * How the hosts of a cluster reach each other.
 *
 * @param host the address under which the others reach this one
 * @param bindHost where it listens
 * @param port for both; 0 takes a free one
 * @param seeds {@code host:port} of those to join; empty for a cluster of this host alone
 */
public record ClusterSettings(String host, String bindHost, int port, List<String> seeds) {

  private static final long FRAME_MARGIN = 1L << 20;

  public ClusterSettings {
    seeds = List.copyOf(seeds);
  }

  /** From the {@code envapi} section. */
  static ClusterSettings from(Config envapi) {
    String host = envapi.getString("cluster.host");
    String bindHost = envapi.getString("cluster.bind-host");
    return new ClusterSettings(
        host,
        bindHost.isEmpty() ? host : bindHost,
        envapi.getInt("cluster.port"),
        envapi.getStringList("cluster.seeds"));
  }

  /** Whether there are, or may be, other hosts. */
  boolean isShared() {
    return !seeds.isEmpty();
  }

  List<Address> addresses(String system) {
    return seeds.stream()
        .map(
            seed -> {
              int colon = seed.lastIndexOf(':');
              return new Address(
                  "pekko",
                  system,
                  seed.substring(0, colon),
                  Integer.parseInt(seed.substring(colon + 1)));
            })
        .toList();
  }

  /** What Pekko is told. A message may be as large as what a caller may send or be sent. */
  Config config(HttpSettings http, FileSettings files) {
    long frame = Math.max(http.maxBodyBytes(), 2L * files.maxReadBytes()) + FRAME_MARGIN;
    Map<String, Object> values =
        new HashMap<>(
            Map.of(
                "pekko.remote.artery.canonical.hostname", host,
                "pekko.remote.artery.canonical.port", port,
                "pekko.remote.artery.bind.hostname", bindHost,
                "pekko.remote.artery.bind.port", port,
                "pekko.remote.artery.advanced.maximum-large-frame-size",
                    Math.min(frame, Integer.MAX_VALUE - 8) + "b"));
    if (isShared()) {
      values.put("pekko.cluster.split-brain-resolver.active-strategy", "lease-majority");
      values.put(
          "pekko.cluster.split-brain-resolver.lease-majority.lease-implementation",
          "envapi-journal-lease");
    }
    return ConfigFactory.parseMap(values);
  }
}
