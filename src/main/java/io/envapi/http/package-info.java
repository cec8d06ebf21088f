/**
 * The HTTP interface: one class of routes per resource, and the only place that knows status codes.
 * May use every package but {@code app} and {@code linux}.
 */
@NullMarked
package io.envapi.http;

import org.jspecify.annotations.NullMarked;
