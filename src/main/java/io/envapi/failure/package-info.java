/**
 * The ways a request can fail that are not bugs: one sealed list, as data. Only the http package
 * knows which status each becomes. May use {@code id}.
 */
@NullMarked
package io.envapi.failure;

import org.jspecify.annotations.NullMarked;
