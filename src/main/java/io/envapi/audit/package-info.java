/**
 * The audit log: who did what, one JSON object a line, never changed afterwards. May use {@code
 * id}.
 */
@NullMarked
package io.envapi.audit;

import org.jspecify.annotations.NullMarked;
