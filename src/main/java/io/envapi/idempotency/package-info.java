/**
 * Which requests were sent with an idempotency key, and what they were answered: the entity that
 * remembers them. May use {@code failure}, {@code id}.
 */
@NullMarked
package io.envapi.idempotency;

import org.jspecify.annotations.NullMarked;
