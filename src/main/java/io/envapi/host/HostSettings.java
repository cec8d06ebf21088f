package io.envapi.host;

import java.time.Duration;

/**
 * How requests travel.
 *
 * @param askTimeout how long an answer may take beyond the time the caller asked to wait
 * @param requestTimeout how long a request may take altogether
 */
public record HostSettings(Duration askTimeout, Duration requestTimeout) {}
