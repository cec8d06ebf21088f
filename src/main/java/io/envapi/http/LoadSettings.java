package io.envapi.http;

import com.typesafe.config.Config;
import java.time.Duration;

/**
 * How much is taken on at once. Where it says so 0 stands for no limit.
 *
 * @param requestsPerSecond of one account, twice as many in a burst; or 0
 * @param concurrentRequests of one account that are not answered yet; or 0
 * @param streams of one account, server-sent events; or 0
 * @param refusedPerSecond refused tokens of one client address, twice as many in a burst; or 0
 * @param connections of all clients
 * @param connectionsPerAddress of one client address; or 0
 * @param headTimeout from a new connection to the end of its first request's head
 * @param bodyTimeout from the end of a head to the end of a body that is read as a whole
 * @param keepAlive from an answer to the end of the next request's head
 */
public record LoadSettings(
    int requestsPerSecond,
    int concurrentRequests,
    int streams,
    int refusedPerSecond,
    int connections,
    int connectionsPerAddress,
    Duration headTimeout,
    Duration bodyTimeout,
    Duration keepAlive) {

  /** From the {@code envapi} section. */
  public static LoadSettings from(Config envapi) {
    return new LoadSettings(
        envapi.getInt("http.max-requests-per-second"),
        envapi.getInt("http.max-concurrent-requests"),
        envapi.getInt("http.max-streams-per-account"),
        envapi.getInt("http.max-refused-per-second"),
        envapi.getInt("http.max-connections"),
        envapi.getInt("http.max-connections-per-address"),
        envapi.getDuration("http.head-timeout"),
        envapi.getDuration("http.body-timeout"),
        envapi.getDuration("http.keep-alive"));
  }
}
