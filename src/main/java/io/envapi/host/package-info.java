/**
 * Hosts, and how a request finds the environment it is for: the only package that knows the
 * cluster. May use {@code environment}, {@code shell}, {@code account}, {@code idempotency}, {@code
 * sandbox}, {@code files}, {@code audit}, {@code failure} and {@code id}.
 */
@NullMarked
package io.envapi.host;

import org.jspecify.annotations.NullMarked;
