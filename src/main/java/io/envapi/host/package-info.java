/**
 * Hosts, and how a request finds the environment it is for: the only package that knows the
 * cluster. May use {@code environment}, {@code account} and what is below them.
 */
@NullMarked
package io.envapi.host;

import org.jspecify.annotations.NullMarked;
