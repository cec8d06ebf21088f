/**
 * The ways a request can fail that are not bugs: one sealed list, as data. Only the http package
 * knows which status each becomes. Uses no other package of ours.
 */
@NullMarked
package io.envapi.failure;

import org.jspecify.annotations.NullMarked;
