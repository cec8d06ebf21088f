/**
 * The tiers in which an environment's processes are confined, the probes that decide which of them
 * this host can give, and the limits put on a process. May use {@code linux}, {@code process},
 * {@code failure} and {@code id}.
 */
@NullMarked
package io.envapi.sandbox;

import org.jspecify.annotations.NullMarked;
