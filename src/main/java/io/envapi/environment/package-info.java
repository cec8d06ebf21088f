/**
 * An environment: its record, its shells and its files. May use {@code shell}, {@code account}
 * (messages), {@code sandbox}, {@code process}, {@code files}, {@code linux}, {@code audit}, {@code
 * failure} and {@code id}.
 */
@NullMarked
package io.envapi.environment;

import org.jspecify.annotations.NullMarked;
